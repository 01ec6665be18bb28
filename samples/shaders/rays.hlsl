/* SPDX-License-Identifier: MIT */
/* A library of ray tracing, of model 6.3. */
struct Payload { float4 colour; };
RaytracingAccelerationStructure scene : register(t0);
RWTexture2D<float4> picture : register(u0);
cbuffer Camera : register(b0) { float4x4 inverse; };

[shader("raygeneration")]
void look()
{
    Payload p = {float4(0, 0, 0, 0)};
    RayDesc r = {inverse[0].xyz, 0, inverse[1].xyz, 1000};
    TraceRay(scene, 0, 255, 0, 1, 0, r, p);
    picture[DispatchRaysIndex().xy] = p.colour;
}

[shader("miss")]
void sky(inout Payload p)
{
    p.colour = 1;
}
