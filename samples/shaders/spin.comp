#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// As many rounds of as many rounds as constant buffer 0 says: a few take no time, and many do not end.
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(set = 0, binding = 0) uniform Params { uvec2 address; uint rounds; };
void main()
{
    uint x = 1;
    for (uint i = 0; i < rounds; i++)
        for (uint k = 0; k < rounds; k++)
            x = x * 1664525u + (x >> 7) + i;
    Words(address).v[0] = x;
}
