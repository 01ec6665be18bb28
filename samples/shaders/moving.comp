#version 450
// SPDX-License-Identifier: MIT
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Counts for as many rounds, for ever for 0, as where nothing is bound; and writes one word if it is to, all as constant buffer 0 says.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(set = 0, binding = 0) uniform Params { uvec2 address; uint store; uint rounds; };
void main()
{
    uint x = gl_GlobalInvocationID.x;

    for (uint i = 0; i < rounds || rounds == 0; i++)
        x = x * 1664525u + (x >> 13) + i;
    if (store != 0)
        Words(address).v[0] = x;
    else if (x == 0xfffffff1u && rounds > 1)
        Words(address).v[1] = x;
}
