ps_2_0
dcl v0
mov r0, v0
mov oC0, r0
mov oDepth, r0.w
