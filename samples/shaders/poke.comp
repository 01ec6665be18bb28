#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Writes one word at an address that constant buffer 0 names: right or wrong.
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(set = 0, binding = 0) uniform Params { uvec2 address; uint value; };
void main()
{
    Words(address).v[0] = value;
}
