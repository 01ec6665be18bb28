// Small building blocks for shader model 4.
Texture2D image : register(t0);
SamplerState image_sampler : register(s0);

cbuffer transform : register(b0)
{
    float4 scale_offset; // xy scale, zw offset
};

struct coloured
{
    float4 position : SV_Position;
    float4 colour : COLOR0;
};

struct textured
{
    float4 position : SV_Position;
    float2 uv : TEXCOORD0;
};

coloured colour_vs(float4 position : POSITION, float4 colour : COLOR0)
{
    coloured o;
    o.position = position;
    o.colour = colour;
    return o;
}

coloured scaled_vs(float4 position : POSITION, float4 colour : COLOR0)
{
    coloured o;
    o.position = float4(position.xy * scale_offset.xy + scale_offset.zw, position.zw);
    o.colour = colour;
    return o;
}

coloured instanced_vs(float4 position : POSITION, float4 colour : COLOR0, float4 place : TEXCOORD1)
{
    coloured o;
    o.position = float4(position.xy * place.zw + place.xy, position.zw);
    o.colour = colour;
    return o;
}

float4 colour_ps(coloured v) : SV_Target
{
    return v.colour;
}

textured texture_vs(float4 position : POSITION, float2 uv : TEXCOORD0)
{
    textured o;
    o.position = position;
    o.uv = uv;
    return o;
}

// One triangle that covers the screen, from vertex numbers alone.
textured fullscreen_vs(uint id : SV_VertexID)
{
    textured o;
    float2 uv = float2((id << 1) & 2, id & 2);

    o.uv = uv;
    o.position = float4(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0);
    return o;
}

float4 texture_ps(textured v) : SV_Target
{
    return image.Sample(image_sampler, v.uv);
}

float4 texture_level_ps(textured v) : SV_Target
{
    return image.SampleLevel(image_sampler, v.uv, 1.0);
}

float4 load_ps(textured v) : SV_Target
{
    return image.Load(int3(v.position.xy, 0));
}

struct targets
{
    float4 first : SV_Target0;
    float4 second : SV_Target1;
    float4 third : SV_Target2;
};

targets targets_ps(coloured v)
{
    targets o;
    o.first = v.colour;
    o.second = float4(v.colour.gbr, 1.0);
    o.third = float4(1.0 - v.colour.rgb, 1.0);
    return o;
}

float4 depth_ps(coloured v, out float depth : SV_Depth) : SV_Target
{
    depth = v.colour.a;
    return float4(v.colour.rgb, 1.0);
}

float4 clip_ps(coloured v) : SV_Target
{
    clip(v.colour.a - 0.5);
    return v.colour;
}

float3 three_ps(coloured v) : SV_Target
{
    return v.colour.rgb;
}

float4 two_ps(coloured v, out float second : SV_Target1) : SV_Target
{
    second = v.colour.g;
    return v.colour;
}

// Which primitive, in red for 0 and green for 1; blue counts eighths. The sides of a face, in another way.
float4 number_ps(coloured v, uint id : SV_PrimitiveID) : SV_Target
{
    return float4(id == 0 ? 1.0 : 0.0, id == 1 ? 1.0 : 0.0, id / 8.0, 1.0);
}

float4 front_ps(coloured v, bool front : SV_IsFrontFace) : SV_Target
{
    return front ? v.colour : float4(0.0, 1.0, 0.0, 1.0);
}
