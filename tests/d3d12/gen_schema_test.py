#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The number that says which tables a recording was made with changes with the bytes, and with nothing else.
usage: gen_schema_test.py SOURCE_ROOT IDL_DIR"""
import os
import re
import sys
import tempfile

root, idl = sys.argv[1:3]
gen_dir = os.path.join(root, 'src/d3d12/gen')
sys.path.insert(0, gen_dir)
import gen  # noqa: E402


def read(name):
    with open(os.path.join(gen_dir, name)) as f:
        return f.read()


annot, native = read('d3d12.annot'), read('native.idl')


def schema(annot=annot, native=native):
    with tempfile.TemporaryDirectory() as d:
        paths = [os.path.join(d, n) for n in ('annot', 'native.idl')]
        for path, text in zip(paths, (annot, native)):
            with open(path, 'w') as f:
                f.write(text)
        g = gen.load(idl, *paths)
        g.api()
        return re.search(r'\.schema = UINT64_C\((\w+)\)', g.table()).group(1)


def changed(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


now = schema()
same = {
    'a flag': dict(annot=changed(annot, 'flag Native::Present special frame mark', 'flag Native::Present special frame')),
    'what is left of a call': dict(annot=changed(annot, 'flag Native::Note special', 'flag Native::Note special passes')),
    'a state': dict(annot=changed(annot, 'sets value ID3D12CommandQueue::Signal pFence\n', '')),
    'a comment': dict(native='// one more\n' + native),
}
other = {
    'how a field travels': dict(annot=changed(annot, 'param ID3D12Object::GetPrivateData.pData opaque', 'param ID3D12Object::GetPrivateData.pData ignore')),
    'another case of a union': dict(annot=changed(annot, 'union D3D12_BARRIER_GROUP Type 0=pGlobalBarriers 1=', 'union D3D12_BARRIER_GROUP Type 1=')),
    'one field more': dict(native=changed(native, 'void FenceSeen(', 'void FenceSeen( UINT More,')),
    'a field of another width': dict(native=changed(native, 'UINT Height, UINT Hash )', 'UINT Height, INT64 Hash )')),
    'two fields in another order': dict(native=changed(native, 'UINT PresentsAgo, UINT Width', 'UINT Width, UINT PresentsAgo')),
    'a method that answers': dict(native=changed(native, 'void EventCreate(', 'UINT EventCreate(')),
    'one method more': dict(native=changed(native, '    void Note(', '    void More( UINT N );\n    void Note(')),
}
print('1..%d' % (len(same) + len(other)))
n = 0
for cases, want in ((same, True), (other, False)):
    for what, args in cases.items():
        n += 1
        ok = (schema(**args) == now) == want
        print('%s %d %s: %s' % ('ok' if ok else 'not ok', n, what, 'the same tables' if want else 'other tables'))
