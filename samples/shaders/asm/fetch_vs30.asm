; a texture read by the vertex shader, at the colour's x and y
vs_3_0
def c0, 0, 0, 0, 0
dcl_position v0
dcl_color v1
dcl_2d s0
dcl_position o0
dcl_color o1
mov o0, v0
mov r0, v1
mov r0.w, c0.x
texldl r1, r0, s0
mov o1, r1
