#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference) buffer Word { uint word; };
layout(push_constant) uniform Push { uvec2 address; uint limit; uint stage; } push;
layout(set = 0, binding = 0) buffer Out { uint out_[]; };
void main()
{
    uint n = gl_VertexIndex;
    if (push.stage == 1)
        for (uint i = 0; push.limit == 0 || i < push.limit; i++)
            n = n * 1664525 + 1013904223 + out_[n & 3];
    if (push.address != uvec2(0))
        Word(push.address).word += n;
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, n == 77 ? 0.5 : 0.0, 1.0);
}
