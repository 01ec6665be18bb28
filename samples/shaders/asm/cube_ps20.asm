; a cube texture, looked up by the colour as a direction
ps_2_0
def c0, 2, -1, 0, 0
dcl v0
dcl_cube s0
mad r0, v0, c0.x, c0.y
texld r0, r0, s0
mov oC0, r0
