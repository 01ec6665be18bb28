#version 450
// SPDX-License-Identifier: MIT
// Loops for as long as the device lets it: llvmpipe ends an invocation after 65 535 rounds, which for every pixel of a large
// target is minutes.
layout(location = 0) out vec4 colour;
void main()
{
    float x = gl_FragCoord.x * 0.001, y = gl_FragCoord.y * 0.001;
    for (int i = 0; i < 1000000000 && x < 1e30; i++) {
        x = fract(x * 1.37 + y) + sqrt(abs(y));
        y = fract(y * 1.91 + x);
    }
    colour = vec4(x, y, 0, 1);
}
