#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 4) in;
layout(constant_id = 0) const uint mode = 0; /* 0: does not end, 1: writes at the address */
layout(constant_id = 1) const uint low = 0;
layout(constant_id = 2) const uint high = 0;
layout(buffer_reference) buffer Word { uint word; };
shared float sum;
#define A x = sin(x + 1.1);
#define B A A A A A A A A
void main()
{
    float x = float(gl_GlobalInvocationID.x);
    if (mode == 1)
        Word(uvec2(low, high)).word = uint(x);
    else
        for (;;) {
            B B B B
            if (x > 2.0)
                break;
        }
    sum = x;
}
