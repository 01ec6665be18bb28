ps_2_0
def c1, 0.5, 0.0, 1.0, 0.25
dcl v0
dcl t0.xy
dcl_2d s0
texld r0, t0, s0
sub r1, r0, c1.x
texkill r1
lrp r2, c1.w, r0, v0
mov oC0, r2
