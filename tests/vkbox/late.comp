#version 450
/* Writes into a buffer that its set names. */
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { uint out_[]; };
void main()
{
    out_[gl_GlobalInvocationID.x] = 1;
}
