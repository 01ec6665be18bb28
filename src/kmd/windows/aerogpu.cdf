; SPDX-License-Identifier: MIT
; The catalogue of the package, for makecat (Windows SDK): makecat aerogpu.cdf, then sign aerogpu.cat.
[CatalogHeader]
Name=aerogpu.cat
PublicVersion=0x0000001
EncodingType=0x00010001
CATATTR1=0x10010001:OSAttr:2:6.1

[CatalogFiles]
<hash>aerogpu.inf=aerogpu.inf
<hash>amd64\aerogpu.sys=amd64\aerogpu.sys
<hash>x86\aerogpu.sys=x86\aerogpu.sys
;umd{
<hash>amd64\aerogpu_d3d9_x64.dll=amd64\aerogpu_d3d9_x64.dll
<hash>amd64\aerogpu_d3d10_x64.dll=amd64\aerogpu_d3d10_x64.dll
<hash>x86\aerogpu_d3d9.dll=x86\aerogpu_d3d9.dll
<hash>x86\aerogpu_d3d10.dll=x86\aerogpu_d3d10.dll
;}umd
