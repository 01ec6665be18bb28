#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
/* Counts to `limit` (for ever, if it is 0) and adds at `address`, if there is one. */
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { uint out_[]; };
layout(buffer_reference) buffer Word { uint word; };
layout(push_constant) uniform Push { uvec2 address; uint limit; } push;

void main()
{
    uint n = gl_GlobalInvocationID.x;
    for (uint i = 0; push.limit == 0 || i < push.limit; i++)
        n = n * 1664525 + 1013904223 + out_[n & 3];
    out_[gl_GlobalInvocationID.x & 15] = n;
    if (push.address != uvec2(0))
        Word(push.address).word += n;
}
