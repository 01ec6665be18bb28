; up to i0.x lights: c[8 + 2k] direction, c[9 + 2k] colour; b0 adds the ambient term c7
vs_2_0
def c4, 0.0, 1.0, 2.0, 8.0
dcl_position v0
dcl_normal v1
m4x4 oPos, v0, c0
mov r1, c4.x
mov r2.x, c4.x
rep i0
  mova a0.x, r2.x
  dp3 r0.x, v1, c8[a0.x]
  max r0.x, r0.x, c4.x
  mad r1, r0.x, c9[a0.x], r1
  add r2.x, r2.x, c4.z
endrep
if b0
  add r1, r1, c7
else
  mul r1, r1, c7
endif
mov r1.w, c4.y
mov oD0, r1
