ps_1_4
def c2, 0.25, 0.5, 0.75, 1.0
texcrd r1.xyz, t0
texld r0, t0
phase
texld r2, r1
lrp r0.rgb, c2, r0, v0
+mov r0.a, r2
