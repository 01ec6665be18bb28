// Dispatches that write buffers of every kind. cs_5_0.
cbuffer size : register(b0)
{
    uint4 extent; // width, height, seed, 0
};

struct particle
{
    float4 position;
    float4 colour;
};

StructuredBuffer<particle> particles_in : register(t0);
ByteAddressBuffer words_in : register(t0);
Buffer<float4> typed_in : register(t0);
RWStructuredBuffer<particle> particles : register(u0);
RWByteAddressBuffer words : register(u0);
RWBuffer<uint> typed : register(u0);

// A Mandelbrot picture as packed RGBA8 words, one per pixel.
[numthreads(8, 8, 1)]
void picture_raw_cs(uint3 id : SV_DispatchThreadID)
{
    float2 c = float2(id.x, id.y) / float2(extent.x, extent.y) * float2(3.0, 2.0) - float2(2.0, 1.0);
    float2 z = c;
    uint n = 0;

    while (n < 31 && dot(z, z) < 4.0)
    {
        z = float2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        ++n;
    }
    if (id.x < extent.x && id.y < extent.y)
        words.Store((id.y * extent.x + id.x) * 4, n * 8 | (n * 4) << 8 | (255 - n * 8) << 16 | 0xff000000);
}

// Points on a circle.
[numthreads(64, 1, 1)]
void ring_structured_cs(uint3 id : SV_DispatchThreadID)
{
    particle p;
    float a = id.x * 0.09817477;

    p.position = float4(cos(a), sin(a), 0.0, 1.0);
    p.colour = float4(id.x / 63.0, 0.5, 1.0 - id.x / 63.0, 1.0);
    particles[id.x] = p;
}

[numthreads(64, 1, 1)]
void swap_structured_cs(uint3 id : SV_DispatchThreadID)
{
    particle p = particles_in[id.x];

    p.position.xy = p.position.yx * 0.5;
    particles[id.x] = p;
}

Texture2D<float4> source : register(t0);
RWTexture2D<float4> target : register(u0);

// Writes a picture transposed.
[numthreads(8, 8, 1)]
void transpose_image_cs(uint3 id : SV_DispatchThreadID)
{
    if (id.x < extent.x && id.y < extent.y)
        target[id.yx] = source.Load(int3(id.xy, 0));
}

[numthreads(64, 1, 1)]
void count_typed_cs(uint3 id : SV_DispatchThreadID)
{
    typed[id.x] = id.x * 3 + extent.z;
}

groupshared uint sums[64];

// Sum of 64 words, in log steps.
[numthreads(64, 1, 1)]
void sum_raw_cs(uint3 id : SV_DispatchThreadID, uint lane : SV_GroupIndex)
{
    sums[lane] = words_in.Load(id.x * 4);
    GroupMemoryBarrierWithGroupSync();
    for (uint n = 32; n > 0; n >>= 1)
    {
        if (lane < n)
            sums[lane] += sums[lane + n];
        GroupMemoryBarrierWithGroupSync();
    }
    if (lane == 0)
        words.Store(0, sums[0]);
}
