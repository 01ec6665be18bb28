#version 450
// SPDX-License-Identifier: MIT
// Without shaders and layout, a vertex is a position (2 floats) and a colour (4 floats).
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_color;

void main()
{
    gl_Position = vec4(position, 0.0, 1.0);
    gl_PointSize = 1.0;
    out_color = color;
}
