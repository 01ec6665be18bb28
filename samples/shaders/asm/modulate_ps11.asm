ps_1_1
def c0, 0.5, 0.5, 0.5, 1.0
tex t0
mul_x2 r0.rgb, t0, v0
+mul r0.a, t0, c0
