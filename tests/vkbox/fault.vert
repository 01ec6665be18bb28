#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
/* One triangle over everything. */
layout(constant_id = 0) const uint mode = 0; /* 0: does not end, 1: reads at the address, 2: neither */
layout(constant_id = 1) const uint low = 0;
layout(constant_id = 2) const uint high = 0;
layout(buffer_reference) buffer Word { uint word; };
#define A x = sin(x + 1.1);
#define B A A A A A A A A
void main()
{
    float x = float(gl_VertexIndex);
    if (mode == 1)
        x += float(Word(uvec2(low, high)).word);
    if (mode == 0)
        for (;;) {
            B B B B
            if (x > 2.0)
                break;
        }
    gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, x * 1e-20, 1);
}
