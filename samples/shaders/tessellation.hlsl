// A triangle patch, subdivided and bulged. hs_5_0 and ds_5_0.
struct control
{
    float4 position : POSITION;
    float4 colour : COLOR0;
};

struct factors
{
    float edge[3] : SV_TessFactor;
    float inside : SV_InsideTessFactor;
};

struct varying
{
    float4 position : SV_Position;
    float4 colour : COLOR0;
};

control control_vs(float4 position : POSITION, float4 colour : COLOR0)
{
    control o;
    o.position = position;
    o.colour = colour;
    return o;
}

factors patch_factors(InputPatch<control, 3> patch)
{
    factors f;
    f.edge[0] = 4.0;
    f.edge[1] = 4.0;
    f.edge[2] = 4.0;
    f.inside = 4.0;
    return f;
}

[domain("tri")]
[partitioning("integer")]
[outputtopology("triangle_cw")]
[outputcontrolpoints(3)]
[patchconstantfunc("patch_factors")]
control bulge_hs(InputPatch<control, 3> patch, uint id : SV_OutputControlPointID)
{
    control o;
    o.position = patch[id].position;
    o.colour = patch[id].colour;
    return o;
}

[domain("tri")]
varying bulge_ds(factors f, float3 at : SV_DomainLocation, const OutputPatch<control, 3> patch)
{
    varying o;
    float4 p = patch[0].position * at.x + patch[1].position * at.y + patch[2].position * at.z;
    float edge = at.x * at.y + at.y * at.z + at.z * at.x;

    o.position = float4(p.xy * (1.0 + edge), p.zw);
    o.colour = patch[0].colour * at.x + patch[1].colour * at.y + patch[2].colour * at.z;
    return o;
}
