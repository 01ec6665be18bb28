// A triangle becomes a small quad at each corner; a point becomes a triangle.
struct coloured
{
    float4 position : SV_Position;
    float4 colour : COLOR0;
};

[maxvertexcount(12)]
void quads_gs(triangle coloured v[3], inout TriangleStream<coloured> stream)
{
    for (uint i = 0; i < 3; ++i)
    {
        coloured o;
        o.colour = v[i].colour;
        o.position = v[i].position + float4(-0.125, 0.125, 0.0, 0.0);
        stream.Append(o);
        o.position = v[i].position + float4(0.125, 0.125, 0.0, 0.0);
        stream.Append(o);
        o.position = v[i].position + float4(-0.125, -0.125, 0.0, 0.0);
        stream.Append(o);
        o.position = v[i].position + float4(0.125, -0.125, 0.0, 0.0);
        stream.Append(o);
        stream.RestartStrip();
    }
}

[maxvertexcount(3)]
void point_gs(point coloured v[1], inout TriangleStream<coloured> stream)
{
    coloured o;
    o.colour = v[0].colour;
    o.position = v[0].position + float4(0.0, 0.25, 0.0, 0.0);
    stream.Append(o);
    o.position = v[0].position + float4(0.25, -0.25, 0.0, 0.0);
    stream.Append(o);
    o.position = v[0].position + float4(-0.25, -0.25, 0.0, 0.0);
    stream.Append(o);
}

// What lies beside: a triangle of the three neighbours of a triangle; of a line, its ends and the point before it.
[maxvertexcount(3)]
void around_gs(triangleadj coloured v[6], inout TriangleStream<coloured> stream)
{
    stream.Append(v[1]);
    stream.Append(v[3]);
    stream.Append(v[5]);
}

[maxvertexcount(3)]
void before_gs(lineadj coloured v[4], inout TriangleStream<coloured> stream)
{
    stream.Append(v[0]);
    stream.Append(v[1]);
    stream.Append(v[2]);
}

// Each instance a triangle, a quarter of the target from each other. The compiler has no [instance(n)]: who wants several says so in
// the bytecode.
[maxvertexcount(3)]
void numbered_gs(point coloured v[1], uint n : SV_GSInstanceID, inout TriangleStream<coloured> stream)
{
    coloured o;
    float4 at = v[0].position + float4(0.5 * n, 0.0, 0.0, 0.0);
    o.colour = v[0].colour;
    o.position = at + float4(0.0, 0.25, 0.0, 0.0);
    stream.Append(o);
    o.position = at + float4(0.25, -0.25, 0.0, 0.0);
    stream.Append(o);
    o.position = at + float4(-0.25, -0.25, 0.0, 0.0);
    stream.Append(o);
}
