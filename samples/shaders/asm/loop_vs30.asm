; loop with aL as index, a subroutine and a predicate
vs_3_0
def c20, 0.0, 1.0, 0.5, -0.5
defi i1, 3, 0, 1, 0
dcl_position v0
dcl_color v1
dcl_position o0
dcl_color o1
dcl_texcoord1 o2
mov o0, v0
mov r0, c20.x
loop aL, i1
  add r0, r0, c0[aL]
endloop
setp_gt p0, v1, c20.z
mov r1, r0
(p0) add r1, r0, v1
call l0
callnz l1, b1
mov o1, r1
mov o2, v1.yxzw
ret
label l0
mul r1, r1, c20.z
ret
label l1
mov r1.w, c20.y
ret
