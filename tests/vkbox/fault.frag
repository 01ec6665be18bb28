#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(constant_id = 0) const uint mode = 0; /* 0: does not end, 1: reads at the address */
layout(constant_id = 1) const uint low = 0;
layout(constant_id = 2) const uint high = 0;
layout(buffer_reference) buffer Word { uint word; };
layout(location = 0) out vec4 color;
#define A x = sin(x + 1.1);
#define B A A A A A A A A
void main()
{
    float x = gl_FragCoord.x;
    if (mode == 1)
        x += float(Word(uvec2(low, high)).word);
    else
        for (;;) {
            B B B B
            if (x > 2.0)
                break;
        }
    color = vec4(x);
}
