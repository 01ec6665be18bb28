; the colour, and a texture of the pixel shader's under the same number
ps_3_0
def c0, 0.5, 0.5, 0, 0
dcl_color v0
dcl_2d s0
texld r0, c0, s0
add oC0, r0, v0
