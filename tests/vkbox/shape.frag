#version 450
layout(push_constant) uniform Push { uvec2 address; uint limit; uint stage; } push;
layout(set = 0, binding = 0) buffer Out { uint out_[]; };
layout(location = 0) out vec4 color;
void main()
{
    uint n = uint(gl_FragCoord.x);
    if (push.stage == 2)
        for (uint i = 0; push.limit == 0 || i < push.limit; i++)
            n = n * 1664525 + 1013904223 + out_[n & 3];
    color = vec4(float(n & 255) / 255.0, 0.5, 0.25, 1.0);
}
