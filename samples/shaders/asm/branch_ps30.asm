; data-dependent break, nested ifs, derivatives, explicit level
ps_3_0
def c0, 0.0, 1.0, 0.0625, 0.03125
defi i0, 32, 0, 0, 0
dcl_color v0
dcl_texcoord1 v1
dcl_2d s0
mov r0, c0.x
mov r1.x, c0.x
rep i0
  add r1.x, r1.x, c0.w
  break_gt r1.x, v0.x
  add r0.xyz, r0, c0.w
endrep
if_gt v1.x, c0.z
  texld r2, v1, s0
  if_lt r2.x, c0.z
    mov r0.z, c0.y
  endif
else
  mov r2, v1.xyxx
  mov r2.w, c0.x
  texldl r2, r2, s0
endif
dsx r3, v1.xyxx
mad r0.y, r3.x, c0.z, r0.y
mov r0.w, r2.w
mov oC0, r0
