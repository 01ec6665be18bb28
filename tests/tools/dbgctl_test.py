#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dbgctl_test.py AEROGPU DBGCTL SUITE_DIR: aerogpu_dbgctl against a service: shapes of its JSON, exit codes, files."""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time

aerogpu, dbgctl, suite = map(os.path.abspath, sys.argv[1:4])
tests = []


def case(fn):
    tests.append(fn)
    return fn


def patient(*args):
    """Busy machines take their time: only who asks for a limit has one that can be met."""
    return args if '--timeout-ms' in args else ('--timeout-ms', '60000', *args)


def until(done, get, seconds=60):
    """What `get` gives once `done` says so, or at last."""
    end = time.monotonic() + seconds
    while not done(v := get()) and time.monotonic() < end:
        time.sleep(0.05)
    return v


def run(*args, env=None):
    p = subprocess.run([dbgctl, *patient(*args)], capture_output=True, text=True, timeout=100, env=env)
    return p.returncode, p.stdout, p.stderr


def ask(*args, code=0, env=None):
    rc, out, err = run(*args, '--json', env=env)
    assert rc == code, '%s: exit code %d, expected %d: %s%s' % (args, rc, code, out, err)
    doc = json.loads(out)
    assert doc['schema_version'] == 1
    assert doc['ok'] == (code == 0), doc
    if code:
        assert doc['error']['message']
    return doc


def u64(v):
    assert int(v['hex'], 16) == int(v['dec'])
    return int(v['dec'])


@case
def status_has_its_keys_under_three_names():
    keys = ['device', 'fences', 'perf', 'ring0', 'scanout0', 'cursor', 'vblank', 'segments', 'umd_private', 'last_error',
            'createallocation_trace']
    for name in ('--status', '--query-version', '--query-device'):
        d = ask(name)
        assert d['command'] == 'status'
        for k in keys:
            assert k in d and d[k].get('supported') is not False, (k, d.get(k))
    assert d['device']['abi_version'] == {'major': 1, 'minor': 4} and d['device']['device_abi'] == 'new'
    assert d['device']['features']['decoded'] == ', '.join(d['device']['features']['decoded_list'])
    # Extensions are named as the device interface names its bits; those that the host cannot do are not there.
    named = dict((int(bit), name) for bit, name in re.findall(r'^    F\((\d+), EXT_\w+, (\w+),', open(
        os.path.dirname(os.path.abspath(__file__)) + '/../../include/aerogpu/ext.h').read(), re.M))
    bits = int(d['device']['features']['lo_hex'], 16)
    assert bits & 0xffffffff == 0x3f and len(named) >= 14, (hex(bits), named)
    assert d['device']['features']['decoded_list'] == ['cursor', 'scanout', 'vblank', 'fence_page', 'transfer', 'error_info'] + \
        [named[b] for b in range(32, 64) if bits >> b & 1], d['device']['features']
    assert d['umd_private']['flags']['has_fence_page'] is True


@case
def fences_move_with_work():
    before = u64(ask('--query-fence')['fences']['last_completed_fence'])
    subprocess.run([suite + '/readback_sanity'], check=True, stdout=subprocess.DEVNULL)
    f = ask('--query-fence')['fences']
    assert u64(f['last_completed_fence']) > before
    last = ask('--status')['ring0']['last']
    ring = ask('--dump-ring')['descriptors'][-1]
    assert last == {k: v for k, v in ring.items() if k not in ('index', 'ring_index')} and last['cmd_size_bytes'] > 0
    assert f['pending'] == '0'


@case
def perf_and_its_alias():
    assert ask('--query-perf')['command'] == ask('--perf')['command'] == 'query-perf'
    for p in ask('--query-perf'), ask('--status')['perf']:
        assert all(p['flags'][k] for k in ('valid', 'ring_valid', 'vblank_valid', 'getscanline_counters_valid'))
        assert u64(p['submits']['total']) >= u64(p['submits']['render']) + u64(p['submits']['present']) > 0
        assert all(p[k]['available'] for k in ('get_scanline', 'contig_pool', 'alloc_table', 'selftest', 'pending_meta_handles'))
        assert p['contig_pool']['bytes_saved'].keys() == {'bytes', 'mib'} and p['device_error']['latched'] is False
        assert u64(p['alloc_table']['entries']) >= max(1, u64(p['alloc_table']['readonly_entries']))
        assert u64(p['irqs']['fence_delivered']) > 0 and u64(p['vblank']['seq']) > 0
    assert ask('--query-perf')['last_error']['error_code_name'] == 'NONE'
    for name in ('--query-perf', '--status'):
        rc, out, _ = run(name)
        assert rc == 0 and 'Last error: latched=no code=0 (NONE) fence=0x0 (0) count=0' in out


@case
def metrics_of_everybody_and_of_clients():
    m = ask('--metrics', '--interval-ms', '50')['metrics']
    assert 0.05 <= m['interval_seconds'] < 10 and m['vblank']['period_ms'] > 16
    a = m['adapter']
    assert a['process'] == 0 and 0 < a['completed'] == a['latency']['count'] <= a['submitted'] and a['bytes'] > 0
    t = a['latency']
    assert 0 < t['p50_ms'] <= t['p95_ms'] <= t['p99_ms'] <= t['max_ms'] and t['avg_ms'] <= t['max_ms']
    assert len({c['process'] for c in m['clients']}) == len(m['clients']) > 0
    rc, out, _ = run('--metrics', '--prometheus')
    assert rc == 0
    values = {}
    for line in out.splitlines():
        assert re.fullmatch(r'# (HELP aerogpu_\w+ .+|TYPE aerogpu_\w+ (counter|gauge|summary))'
                            r'|aerogpu_\w+(\{\w+="[\d.]+"(,\w+="[\d.]+")*\})? [\d.]+', line), line
        if line[0] != '#':
            name, value = line.rsplit(' ', 1)
            assert name not in values, name
            values[name] = float(value)
    assert values['aerogpu_submissions_total'] >= a['submitted']
    families = {}
    for name in values:
        families.setdefault(re.split(r'[{]', name)[0], set()).add('process=' in name)
    assert all(labelled == {'_process_' in family} for family, labelled in families.items()), families
    assert any('_process_' in family for family in families), out
    assert values['aerogpu_submission_latency_seconds_count'] == values['aerogpu_completions_total']
    assert 'two formats' in ask('--metrics', '--prometheus', code=1)['error']['message']


@case
def events_are_traced():
    def traced(*args, ms=4000):
        with open(tmp + '/trace', 'w') as f:
            p = subprocess.Popen([dbgctl, '--trace', '--timeout-ms', str(ms), *args], stdout=f, text=True)
        while p.poll() is None:  # something happens while it looks
            c = subprocess.run([suite + '/triangle', '--iterations=1'], capture_output=True, text=True)
            assert c.returncode == 0, c
        assert p.returncode == 0
        with open(tmp + '/trace') as f:
            return f.read()

    for ms in 4000, 12000, 36000:  # on a busy machine a client may take as long: one is there from its beginning to its end
        t = json.loads(traced('--json', ms=ms))['trace']
        events = t['events']
        if {e['hDevice'] for e in events if e['id'] == 27} & {e['hDevice'] for e in events if e['id'] == 28}:
            break
    assert t['count'] == len(events) > 0 and t['lost'] == 0, t['count']
    assert {(e['provider'], e['keyword_hex']) for e in events} == {('Microsoft-Windows-DxgKrnl', '0x4000000000000001')}
    assert [e['time_ns'] for e in events] == sorted(e['time_ns'] for e in events)
    assert {(e['task'], e['opcode'], e['id']) for e in events} >= {
        ('Device', 'Start', 27), ('Device', 'Stop', 28), ('Context', 'Start', 30), ('Context', 'Stop', 31), ('DmaPacket', 'Start', 175),
        ('DmaPacket', 'Stop', 176), ('QueuePacket', 'Start', 178), ('QueuePacket', 'Stop', 180)}, {e['id'] for e in events}
    seen = {e['hContext'] for e in events if e['id'] == 30}  # from their first packet on
    for task, number in (('DmaPacket', ('uliSubmissionId', 'uliCompletionId')), ('QueuePacket', ('SubmitSequence',) * 2)):
        began = [(e['process'], e['hContext'], e[number[0]]) for e in events if e['task'] == task and e['opcode'] == 'Start']
        ended = [(e['process'], e['hContext'], e[number[1]]) for e in events if e['task'] == task and e['opcode'] == 'Stop' and e['hContext'] in seen]
        assert len(set(began)) == len(began) and set(ended) <= set(began), (task, set(ended) - set(began))
    devices = {e['hDevice']: e['process'] for e in events if e['id'] == 27}
    assert all(devices.get(e['hDevice'], e['process']) == e['process'] for e in events if e['id'] == 30)  # some are older than the trace
    lines = traced().splitlines()
    assert lines and all(json.loads(line)['provider'] for line in lines)

    def after_a_stop():  # how long it looks is not how soon the service answers
        server.send_signal(signal.SIGSTOP)
        p = subprocess.Popen([dbgctl, '--trace', '--timeout-ms', '1'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.2)
        server.send_signal(signal.SIGCONT)
        return p.communicate(timeout=60)[1], p.returncode
    assert until(lambda r: r == ('', 0), after_a_stop, 10) == ('', 0)


@case
def ring_and_its_descriptors():
    d = ask('--dump-ring', '--ring-id', '0')
    indices = [e['ring_index'] for e in d['descriptors']]
    assert all((b - a) % (d['ring_size_bytes'] // 64) == 1 for a, b in zip(indices, indices[1:])), indices
    assert (indices[-1] + 1) % (d['ring_size_bytes'] // 64) == int(d['tail_u32_hex'], 16) % (d['ring_size_bytes'] // 64), d
    assert d['format'] == 'agpu' and d['desc_count'] == len(d['descriptors'])
    assert 'ring 0' in ask('--dump-ring', '--ring-id', '1', code=2)['error']['hint']


@case
def watching():
    d = ask('--watch-fence', '--samples', '3', '--interval-ms', '1')
    assert len(d['samples']) == 3 and d['samples'][0]['delta']['d_completed'] == '0' and d['samples'][0]['fences']['latched'] is False
    d = ask('--watch-fence', '--samples', '10000', '--interval-ms', '10', '--timeout-ms', '3000', code=2)  # of all of them
    assert d['error']['status']['name'] == 'STATUS_TIMEOUT' and len(d['samples']) < 10000, d
    d = ask('--watch-ring', '--samples', '2', '--interval-ms', '1')
    assert len(d['samples']) == 2 and d['samples'][1]['d_pending'] == '0' and d['stall_warnings'] == 0
    rc, out, _ = run('--watch-ring', '--samples', '2', '--interval-ms', '1')
    assert rc == 0 and len(out.splitlines()) == 2


@case
def vblank():
    d = ask('--dump-vblank', '--vblank-samples', '2', '--vblank-interval-ms', '40')
    assert d['command'] == ask('--query-vblank')['command'] == 'dump-vblank'
    assert u64(d['samples'][1]['vblank_seq']) > u64(d['samples'][0]['vblank_seq'])
    assert d['summary']['delta_samples'] == 1 and d['summary']['per_vblank_us_avg'] in ('16666', '16667') and d['summary']['stalls'] == 0, d['summary']
    # min and max are of single vblanks, also where many lie between two samples
    each = until(lambda e: e['seen'] >= 2, lambda: ask('--dump-vblank', '--vblank-samples', '2', '--vblank-interval-ms', '300')['summary'])
    assert each['seen'] >= 2 and {each['per_vblank_us_min'], each['per_vblank_us_max']} <= {'16666', '16667'}, each
    waiter = subprocess.Popen([dbgctl, *patient('--wait-vblank', '--vblank-samples', '10000')], stdout=subprocess.DEVNULL)
    d = until(lambda d: 'VBLANK' in d['samples'][0]['irq_enable_names'], lambda: ask('--dump-vblank'))  # while somebody waits the interrupt is on
    waiter.terminate()
    waiter.wait()
    v = d['samples'][0]  # 3: DXGK_INTERRUPT_CRTC_VSYNC
    assert v['vblank_interrupt_type'] == 3 and 'note' not in d and d['scanout_post_display_ownership_released'] is False, d
    assert v['irq_enable_names'] == ['FENCE', 'VBLANK', 'ERROR'] and v['irq_enable_u32_hex'] == '0x80000003' and v['scanline']['ok'], d
    d = until(lambda d: d['samples'][0]['irq_enable_names'] == ['FENCE', 'ERROR'], lambda: ask('--dump-vblank'))
    assert d['samples'][0]['vblank_interrupt_type'] == 3 and '--wait-vblank' in d['note'], d  # and says so when it is off
    d = ask('--wait-vblank', '--vblank-samples', '3')
    assert d['summary']['deltas'] == 3 == len(d['samples']) and d['summary']['waits'] == 4
    d = ask('--query-scanline', '--vblank-samples', '2', '--vblank-interval-ms', '1')
    assert d['samples_requested'] == 2 and d['interval_ms'] == 1
    assert d['vidpn_source_id'] == d['vidpn_source_id_requested'] == 0 and d['fallback_to_source0'] is False
    assert [s['index'] for s in d['samples']] == [1, 2] and all(s['vidpn_source_id'] == 0 for s in d['samples'])
    drawn = [s['scanline'] for s in d['samples'] if not s['in_vblank']]
    assert d['summary']['in_vblank'] == 2 - len(drawn) and d['summary']['out_vblank'] == len(drawn)
    assert d['summary'].get('out_scanline_range') == ({'min': min(drawn), 'max': max(drawn)} if drawn else None)


@case
def last_submissions():
    d = ask('--dump-last-submit', '--cmd-out', tmp + '/cmd.bin')
    assert d['command'] == 'dump-last-cmd' and len(d['dumps']) == d['request']['count_actual'] == 1
    assert d['dumps'][0]['output']['cmd_magic_matches'] is True
    assert open(tmp + '/cmd.bin', 'rb').read(4) == b'ACMD'
    assert 'fence: ' in open(tmp + '/cmd.bin.txt').read()
    ask('--dump-last-cmd', '--cmd-out', tmp + '/many.bin', '--count', '2')
    assert open(tmp + '/many_1.bin', 'rb').read(4) == b'ACMD'
    d = ask('--dump-last-cmd', '--out', tmp + '/older', '--count', '2', '--index-from-tail', '1')  # numbered from the tail
    assert [s['output']['cmd_path'] for s in d['dumps']] == [tmp + '/older_1.bin', tmp + '/older_2.bin'], d
    assert open(tmp + '/older_1.bin', 'rb').read() == open(tmp + '/many_1.bin', 'rb').read()
    for k in range(8):  # a table where there is one, an empty file where there is none
        d = ask('--dump-last-submit', '--cmd-out', tmp + '/k.bin', '--alloc-out', tmp + '/k.table', '--index-from-tail', str(k))['dumps'][0]
        assert os.path.getsize(tmp + '/k.table') == d['descriptor']['alloc_table_size_bytes'], d
        assert d['output']['alloc_table_present'] == bool(int(d['descriptor']['alloc_table_gpa_hex'], 16)), d
    ask('--dump-last-cmd', '--cmd-out', tmp + '/show.bin', '--count', '8')
    tables = 0
    for k in range(8):  # what was dumped is decoded offline
        p = subprocess.run([aerogpu, 'show', tmp + '/show_%d.bin' % k], capture_output=True, text=True)
        assert p.returncode == 0 and 'ABI 1.4' in p.stdout, p
        d = json.loads(subprocess.run([aerogpu, 'show', '--json', tmp + '/show_%d.bin' % k], capture_output=True, text=True).stdout)
        assert d['stream']['packets'], d
        if os.path.exists(tmp + '/show_%d.bin.alloc_table.bin' % k):
            assert d['alloc_table'] and d['alloc_table'][0]['size_bytes'] and 'alloc ' in p.stdout, d
            d = json.loads(subprocess.run([aerogpu, 'show', '--json', tmp + '/show_%d.bin.alloc_table.bin' % k], capture_output=True,
                                          text=True).stdout)
            tables += len(d['alloc_table'])
    assert tables > 0
    with open(tmp + '/cut.bin', 'wb') as f:
        f.write(open(tmp + '/show_0.bin', 'rb').read()[:40])
    p = subprocess.run([aerogpu, 'show', tmp + '/cut.bin'], capture_output=True, text=True)
    assert p.returncode == 3 and 'error: stream at 0x0' in p.stdout, p
    rc, _, err = run('--dump-last-cmd', '--cmd-out', tmp + '/none/x.bin')
    assert rc == 2 and 'No such file or directory' in err
    ask('--dump-last-cmd', '--cmd-out', tmp + '/x.bin', '--index-from-tail', '5000', code=2)


@case
def displays():
    d = ask('--list-displays')['displays'][0]
    name = d['device_name']
    assert d['device_string'] == 'AeroGPU' or d['device_string'], d
    assert name == '\\\\.\\DISPLAY1'
    ask('--query-fence', '--display', name)
    for bad in '\\\\.\\DISPLAY9', 'DISPLAY1', 'x':
        assert '--list-displays' in ask('--query-fence', '--display', bad, code=1)['error']['hint'], bad


@case
def the_cursor():
    subprocess.run([suite + '/cursor_state_sanity', '--require-ours'], check=True, stdout=subprocess.DEVNULL)
    d = ask('--dump-cursor-png', tmp + '/c.png')
    assert open(tmp + '/c.png', 'rb').read(8) == b'\x89PNG\r\n\x1a\n' and d['cursor']['width'] == 32
    ask('--dump-cursor-bmp', tmp + '/c.bmp')
    assert os.path.getsize(tmp + '/c.bmp') == 54 + 4 * d['cursor']['width'] * d['cursor']['height']


@case
def pictures():
    q = ask('--query-scanout')['scanout']
    assert q['flags_valid'] and q['cached_fb_gpa_valid'] and q['agree'] and not q['post_display_ownership_released']
    gpa = q['mmio'].pop('fb_gpa_hex')
    assert q['cached'] == q['mmio'] and q['mmio']['format'] == 'B8G8R8X8_UNORM' and q['cached_fb_gpa_hex'] == gpa and int(gpa, 16)
    ask('--dump-scanout-png', tmp + '/s.png')
    assert open(tmp + '/s.png', 'rb').read(8) == b'\x89PNG\r\n\x1a\n'
    for option in '--dump-scanout-png', '--dump-scanout-bmp':
        rc, _, err = run(option, tmp + '/none/s')
        assert rc == 2 and 'No such file or directory' in err and not [f for f in os.listdir(tmp) if f.endswith('.part')]
    d = ask('--dump-scanout-bmp', tmp + '/s.bmp')['scanout']['selected']
    assert os.path.getsize(tmp + '/s.bmp') == 54 + 4 * d['width'] * d['height']


@case
def memory():
    d = ask('--read-gpa', '0x1000', '64')
    assert d['response']['bytes_copied'] == 64 and len(d['response']['data_hex']) == 128 and d['response']['truncated'] is False
    assert d['request'] == {'gpa': {'hex': '0x1000', 'dec': '4096'}, 'size_bytes': 64, 'size_bytes_effective': 64}
    for force, shown in ([], 256), (['--force'], 4096):
        d = ask('--read-gpa', '0x1000', '5000', *force)
        assert d['response']['truncated'] is True and len(d['response']['data_hex']) == 2 * shown == 2 * d['request']['size_bytes_effective']
        rc, out, _ = run('--read-gpa', '0x1000', '5000', *force)
        assert rc == 0 and len(out.splitlines()) == shown / 16 + 1 and 'not shown: %d bytes' % (5000 - shown) in out
    ask('--read-gpa', '0x1000', '--size', '5000', '--out', tmp + '/mem.bin')
    assert os.path.getsize(tmp + '/mem.bin') == 5000
    d = ask('--read-gpa', '0xffffffffffff0000', code=2)
    assert d['error']['status']['name'] == 'STATUS_INVALID_PARAMETER'
    ask('--read-gpa', '0x1000', '0x200000', code=2)  # more than 1 MiB without --force


@case
def memory_ends():
    end = 256 << 20
    while run('--read-gpa', str(end), '4', '--json')[0] == 0:  # the screen lies behind RAM
        end += 64 << 10
    for size in 300, 8192:  # in its first piece, and in a later one
        open(tmp + '/part.bin', 'w').close()
        d = ask('--read-gpa', str(end - size + 100), str(size), '--out', tmp + '/part.bin', code=3)
        assert d['response']['bytes_copied'] == size - 100 and d['response']['partial_copy'] is True, d
        assert d['error']['status']['name'] == d['response']['status']['name'] == 'STATUS_PARTIAL_COPY'
        assert not os.path.exists(tmp + '/part.bin')  # a part is not what was asked for


@case
def allocations_and_csv():
    d = ask('--dump-allocations', '--csv', tmp + '/a.csv')
    rows = open(tmp + '/a.csv').read().splitlines()
    assert d['command'] == 'dump-createalloc' and len(rows) == d['entry_count'] + 1 and d['csv_written'] is True
    assert rows[0] == ('write_index,entry_count,entry_capacity,seq,call_seq,alloc_index,num_allocations,create_flags,alloc_id,'
                       'priv_flags,pitch_bytes,share_token,size_bytes,flags_in,flags_out')
    assert rows[1].split(',')[:3] == [str(d[k]) for k in ('write_index', 'entry_count', 'entry_capacity')]
    assert rows[1].split(',')[8] == hex(d['entries'][0]['alloc_id']) and rows[1].split(',')[12] == d['entries'][0]['size_bytes']['dec']


@case
def the_drivers_log():
    d = ask('--dump-log')
    lines = d['log']
    assert d['command'] == 'dump-log' and len(lines) >= 3 and [l['number'] for l in lines] == list(range(lines[0]['number'], lines[-1]['number'] + 1))
    assert any('BAR0 probe inspected' in l['text'] and 'selected mem[0] len=65536 magic=0x55504741' in l['text'] for l in lines), lines
    assert any('ABI=v1 magic=0x55504741' in l['text'] for l in lines) and any('mode: 1024 x 768' in l['text'] for l in lines) and all(l['level'] in 'EWTI' and l['time'] > 0 for l in lines), lines
    rc, out, _ = run('--dump-log')
    assert rc == 0 and len(out.splitlines()) >= len(lines) and lines[0]['text'] in out.splitlines()[0], out


@case
def others():
    for name in ('--query-umd-private', '--query-segments', '--query-error', '--query-scanout', '--query-cursor', '--list-displays'):
        assert ask(name)['command'] == name[2:]
    assert ask('--dump-cursor')['command'] == 'query-cursor'
    g = ask('--query-segments')
    assert g['segment_count'] == len(g['segments']) == 1 and g['segments'][0]['flags']['aperture'] is True
    assert int(g['segments'][0]['base_address_hex'], 16) and g['segments'][0]['size'] == g['segment_group_sizes']['non_local_memory_size'], g
    t = ask('--selftest')
    assert t['error_code_str'] == 'OK' and t['scanout_enabled'] is True and t['subchecks'] == dict.fromkeys(('ring', 'vblank', 'irq', 'cursor'), 'pass'), t
    d = ask('--map-shared-handle', '0x1234', code=2)
    assert d['error']['status']['ntstatus'] == '0xc00000bb'


@case
def wrong_usage_is_code_1():
    for args in (['--bogus'], ['word'], [], ['--status', '--query-fence'], ['--timeout-ms', '0', '--status'], ['--status=1'],
                 ['--ring-id'], ['--ring-id', 'nope', '--dump-ring'], ['--samples', '-1', '--watch-fence'],
                 ['--watch-fence', '--samples', '1', '--interval-ms', 'nope'], ['--watch-fence', '--samples', '10001'],
                 ['--dump-vblank', '--vblank-samples', '10001'], ['--timeout-ms', '4294967296', '--status'],
                 ['--size', '0', '--read-gpa', '0x1000'], ['--size', '4', '--size', '8', '--read-gpa', '0'],
                 ['--size', '--json', '--read-gpa', '0'], ['--dump-last-cmd', '--cmd-out', 'a', '--out', 'b'],
                 ['--dump-last-cmd', '--cmd-out', 'x', '--cmd-out', 'y'], ['--dump-createalloc', '--csv', 'a', '--csv', 'b'],
                 ['--read-gpa', '0', '4', '--out', 'a', '--out', 'b'], ['--read-gpa', '0', '4', '--size', '4'],
                 # options that the command would not look at
                 ['--status', '--out', 'x'], ['--status', '--cmd-out', 'x'], ['--status', '--alloc-out', 'x'],
                 ['--status', '--csv', 'x'], ['--query-fence', '--count', '2'], ['--dump-ring', '--index-from-tail', '1'],
                 ['--query-perf', '--size', '4']):
        d = ask(*args, code=1)
        assert d['command'] == 'parse-args' and d['error']['hint'], args
    for args in (['--read-gpa'], ['--read-gpa', 'x'], ['--read-gpa', '0', 'nope'], ['--read-gpa', '-1'], ['--size', '4', '--read-gpa', '0', '4'],
                 ['--read-gpa', '0x10000000000000000'], ['--dump-scanout-png'], ['--dump-cursor-bmp', '--json'], ['--dump-last-cmd'],
                 ['--dump-last-cmd', '--cmd-out', 'x', '--alloc-out', 'y', '--count', '2'], ['--map-shared-handle', '0xzz']):
        name = [a for a in args if a.startswith('--') and a not in ('--size', '--json')][0]
        assert ask(*args, code=1)['command'] == name[2:], args  # the command's own words
    # Every option with every command: it is looked at, or it is an error; and a value is given once.
    looked_at = {'--ring-id': '--dump-ring --watch-ring --dump-last-submit', '--samples': '--watch-fence --watch-ring',
                 '--interval-ms': '--watch-fence --watch-ring --metrics', '--vblank-samples': '--dump-vblank --wait-vblank --query-scanline',
                 '--vblank-interval-ms': '--dump-vblank --query-scanline', '--size': '--read-gpa', '--out': '--read-gpa --dump-last-submit',
                 '--cmd-out': '--dump-last-submit', '--alloc-out': '--dump-last-submit', '--index-from-tail': '--dump-last-submit',
                 '--count': '--dump-last-submit', '--csv': '--dump-createalloc', '--prometheus': '--metrics',
                 '--force': '--dump-last-submit --read-gpa'}
    said = json.loads(run('--help', '--json')[1])
    for o in said['options']:
        option, value = o['option'], [] if o['option'] in ('--force', '--prometheus', '--json', '--pretty') else ['1']
        if value:
            for args in ([option, '1', option, '1'], [option + '=1', option + '=2']):
                rc, out, err = run(*args, '--status')
                assert rc == 1 and f"option '{option}' is given twice" in err, (args, err)
        if option in ('--display', '--timeout-ms', '--json', '--pretty'):  # those of every command
            continue
        for c in said['commands']:
            if c['options'][0] not in looked_at[option].split():
                rc, out, err = run(c['options'][0], *(['1'] if c['argument'] else []), option, *value)
                assert rc == 1 and f"{option} does not go with {c['options'][0]}" in err, (c, option, err)
    rc, out, err = run('--json', '')
    assert rc == 1 and json.loads(out)['command'] == 'parse-args'
    rc, out, err = run('--bogus')
    assert rc == 1 and out == '' and "unknown option '--bogus'" in err and '--help' in err


@case
def json_to_a_file():
    rc, out, _ = run('--status', '--json=' + tmp + '/st.json')
    assert rc == 0 and out == '' and json.load(open(tmp + '/st.json'))['command'] == 'status'
    rc, out, _ = run('--json', tmp + '/st2.json', '--query-fence', '--pretty')
    assert rc == 0 and json.load(open(tmp + '/st2.json'))['ok'] and '\n' in open(tmp + '/st2.json').read().strip()
    rc, out, _ = run('--status', '--query-fence', '--json=' + tmp + '/st3.json')  # complaints go there too
    assert rc == 1 and out == '' and json.load(open(tmp + '/st3.json'))['command'] == 'parse-args'
    rc, out, _ = run('--query-fence', '--pretty')
    assert rc == 0 and json.loads(out)['ok'] and len(out.splitlines()) > 5
    rc, _, err = run('--query-fence', '--json=' + tmp + '/none/x.json')
    assert rc == 2 and 'No such file or directory' in err


@case
def help_is_code_0():
    for h in ('--help', '-h', '/?'):
        rc, out, _ = run(h)
        assert rc == 0 and '--dump-createallocation' in out
        d = ask(h)
        assert d['command'] == 'help' and len(d['commands']) == 29


def asked(command, *args):
    """Lines that are drawn have a range, and each of a few samples may lie in vertical blank."""
    return until(lambda d: command != '--query-scanline' or d['summary']['out_vblank'], lambda: ask(command, *args))


@case
def every_documented_field_is_there():
    table = {}
    for line in open(os.path.dirname(os.path.abspath(__file__)) + '/dbgctl_keys.tsv'):
        if line[0] != '#':
            command, path, kind = line.rstrip('\n').split('\t')
            table.setdefault(command, []).append((path, kind))
    is_a = {'number': lambda v: type(v) in (int, float), 'string': lambda v: isinstance(v, str), 'bool': lambda v: isinstance(v, bool),
            'list': lambda v: isinstance(v, list) and all(isinstance(e, str) for e in v), 'u64': lambda v: u64(v) >= 0 and set(v) == {'hex', 'dec'},
            'size': lambda v: int(v['bytes']) >> 20 == int(v['mib']), 'status': lambda v: int(v['ntstatus'], 16) >= 0}
    extra = {'watch-fence': ['--samples', '2', '--interval-ms', '1'], 'watch-ring': ['--samples', '2', '--interval-ms', '1'],
             'dump-vblank': ['--vblank-samples', '2', '--vblank-interval-ms', '40'], 'wait-vblank': ['--vblank-samples', '2'],
             'query-scanline': ['--vblank-samples', '12', '--vblank-interval-ms', '2'], 'read-gpa': ['0x1000', '16', '--out', tmp + '/keys.bin'],
             'dump-last-cmd': ['--cmd-out', tmp + '/keys.cmd', '--alloc-out', tmp + '/keys.table'], 'dump-createalloc': ['--csv', tmp + '/keys.csv']}
    ask('--wait-vblank', '--vblank-samples', '1')
    subprocess.run([suite + '/cursor_state_sanity'], check=True, stdout=subprocess.DEVNULL)
    missing = []
    for command, fields in table.items():
        if command == 'map-shared-handle':  # another service's, below
            continue
        d = asked('--' + command, *([tmp + '/keys.picture'] if re.match('dump-(scanout|cursor)-', command) else extra.get(command, [])))
        for path, kind in fields:
            v = d
            try:
                for name in path.split('.'):
                    v = v[name[:-2]][-1] if name.endswith('[]') else v[name]
                good = v is None and kind[-1] == '?' or is_a[kind.rstrip('?')](v)
            except (KeyError, IndexError, TypeError, ValueError) as e:
                good, v = False, repr(e)
            if not good:
                missing.append((command, path, kind, v))
    assert not missing, '\n'.join(map(str, missing))


@case
def the_page_of_shapes_is_true():
    text = open(os.path.dirname(os.path.abspath(__file__)) + '/../../docs/dbgctl.md').read()
    types = {'u64': {'hex', 'dec'}, 'size': {'bytes', 'mib'}, 'status': {'ntstatus', 'name'},
             'times': {'count', 'avg_ms', 'p50_ms', 'p95_ms', 'p99_ms', 'max_ms'}}

    def keys(v):
        if isinstance(v, list):
            return set().union(*map(keys, v)) if v else set()
        if not isinstance(v, dict) or set(v) in types.values():
            return set()
        return set(v).union(*map(keys, v.values()))

    block = text[text.index('```') + 4:text.rindex('```')]
    shapes = {}
    for line in block.splitlines():
        if line.startswith('--'):
            name = line
            shapes[name] = ''
        else:
            shapes[name] += line
    extra = {'--dump-last-submit': ['--cmd-out', tmp + '/shape.bin', '--alloc-out', tmp + '/shape.table'],
             '--read-gpa': ['0x1000', '16', '--out', tmp + '/shape.mem'], '--watch-fence': ['--samples', '1'],
             '--dump-createalloc': ['--csv', tmp + '/shape.csv'], '--query-scanline': ['--vblank-samples', '12', '--vblank-interval-ms', '2'],
             '--trace': ['--timeout-ms', '300'], '--watch-ring': ['--samples', '1'], '--dump-vblank': ['--vblank-samples', '2', '--vblank-interval-ms', '20']}
    assert len(shapes) == 26
    for name, shape in shapes.items():
        first = name.split(',')[0]
        if first in ('--map-shared-handle', '--inject', '--force-tdr'):  # another service's, below
            continue
        d = asked(first, *([tmp + '/shape.png'] if first.endswith('-png') else extra.get(first, [])))
        for k in ('schema_version', 'command', 'ok', 'note'):
            d.pop(k, None)
        if first == '--trace':  # as many as there were, of whatever kinds
            d['trace']['events'] = []
        said = set(re.findall(r'[a-z_0-9]+(?=\??[:,}\]])', re.sub(r': *(%s)\b' % '|'.join(types), ':', shape)))
        assert said - set(re.findall(r'[a-z_0-9]+(?=\?)', shape)) <= keys(d) <= said, (name, said ^ keys(d))


@case
def without_a_service_it_is_code_1():
    env = dict(os.environ, AEROGPU_SOCKET=tmp + '/nobody.sock')
    d = ask('--status', code=1, env=env)
    assert d['command'] == 'status' and 'aerogpu serve' in d['error']['hint']
    assert run('--selftest', env=env)[0] == 254


@case
def it_answers_during_a_hang():
    seen = []
    for hangs in range(1, 5):  # on a busy machine it may have ended before all was asked
        p = subprocess.Popen([suite + '/tdr_recovery'], stdout=subprocess.DEVNULL)
        while p.poll() is None and not seen:
            f = ask('--query-fence')['fences']
            ask('--dump-ring')
            w = ask('--watch-fence', '--samples', '4', '--interval-ms', '20')['samples'][-1]
            if w['warn'] == 'STALLED' and w['delta']['d_completed'] == '0' and u64(f['last_submitted_fence']) > u64(f['last_completed_fence']):
                seen = [f, w]
        assert p.wait(100) == 0
        assert u64(ask('--query-perf')['resets']['reset_from_timeout_count']) == hangs
        if seen:
            break
    assert seen, (f, w)


ALL = [['--list-displays'], ['--status'], ['--query-umd-private'], ['--query-segments'], ['--query-fence'], ['--query-error'],
       ['--watch-fence', '--samples', '2', '--interval-ms', '1'], ['--query-perf'], ['--query-scanout'], ['--query-cursor'],
       ['--metrics', '--interval-ms', '1'], ['--dump-ring'], ['--watch-ring', '--samples', '2', '--interval-ms', '1'], ['--dump-createalloc'], ['--dump-vblank'], ['--dump-log'], ['--trace', '--timeout-ms', '300']]


class Service:
    """Another service, for what this one would not survive."""

    def __init__(self, name, settings):
        self.socket = tmp + '/' + name
        self.log = self.socket + '.log'
        with open(self.socket + '.settings', 'w') as f:
            f.write('[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]\nEnableFaultInjection = 1\nTdrDelay = 1\n' + settings)
        self.process = subprocess.Popen([aerogpu, 'serve', '--socket', self.socket, '--settings', self.socket + '.settings', '--ram', '256',
                                         '--event-log', self.log, '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.env = dict(os.environ, AEROGPU_SOCKET=self.socket)

    def __enter__(self):
        assert '"ready"' in self.process.stdout.readline()
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        self.process.communicate(timeout=30)


def as_nobody(program, *args, env):
    """Runs a copy of the program as nobody, who may not look into root's folders."""
    copy = os.path.join(tmp, 'nobodys-' + os.path.basename(program))
    if not os.path.exists(copy):
        shutil.copy(program, copy)
        os.chmod(copy, 0o755)
    return subprocess.run([copy, *args], capture_output=True, text=True, timeout=60, env=env, cwd='/', user=65534, group=65534,
                          extra_groups=[])


def unprivileged(*args, env):
    """dbgctl as nobody; None where we are not root."""
    return None if os.getuid() else as_nobody(dbgctl, *patient(*args), '--json', env=env)


@case
def shared_handles_have_tokens():
    with Service('mapping', '[HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters]\nEnableMapSharedHandleEscape = 1\n'
                            'EnableReadGpaEscape = 1\n') as s:
        holders = [subprocess.Popen([suite + '/map_shared_handle_stress', '--role=hold'], env=s.env, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True) for _ in range(2)]
        handles = [p.stdout.readline().split() for p in holders]
        assert all(h[0] == 'handle' for h in handles), handles
        handles = [h[1] for h in handles]
        tokens = [u64(ask('--map-shared-handle', h, env=s.env)['debug_token']) for h in handles]
        assert tokens[0] != tokens[1] and all(0 < t < 1 << 32 for t in tokens), tokens
        assert [u64(ask('--map-shared-handle', hex(int(h)), env=s.env)['debug_token']) for h in handles] == tokens
        rc, out, _ = run('--map-shared-handle', handles[0], env=s.env)
        assert rc == 0 and 'debug_token: 0x%x (%d)' % (tokens[0], tokens[0]) in out, out
        for bad, name in ('0', 'STATUS_INVALID_PARAMETER'), ('7', 'STATUS_INVALID_HANDLE'), ('0xffffffffffffffff', 'STATUS_INVALID_HANDLE'):
            assert ask('--map-shared-handle', bad, code=2, env=s.env)['error']['status']['name'] == name
        os.chmod(tmp, 0o755)
        os.chmod(s.socket, 0o666)  # who may connect may ask for state, but not for what is privileged
        for args, code in (['--query-fence'], 0), (['--status'], 0), (['--map-shared-handle', handles[0]], 2), (['--read-gpa', '0x1000'], 2):
            p = unprivileged(*args, env=s.env)
            if p:
                assert p.returncode == code, p
                assert not code or json.loads(p.stdout)['error']['status']['name'] == 'STATUS_NOT_SUPPORTED', p.stdout
        for args in ['--dump-log'], ['--dump-ring'], ['--dump-createalloc'], ['--watch-ring', '--samples', '1'], ['--trace', '--timeout-ms', '5000']:
            p = unprivileged(*args, env=s.env)
            if p:
                e = json.loads(p.stdout)['error']
                assert p.returncode == 2 and e['status']['name'] == 'STATUS_ACCESS_DENIED' and 'only root' in e['hint'], e
        p = unprivileged('--metrics', '--interval-ms', '1', env=s.env)
        if p:  # its own, which are none but the one that asks
            m = json.loads(p.stdout)['metrics']
            assert len(m['clients']) == 1 and m['adapter']['submitted'] == 0, m
            p = unprivileged('--status', env=s.env)
            assert json.loads(p.stdout)['createallocation_trace']['error']['name'] == 'STATUS_ACCESS_DENIED', p.stdout
        if not os.getuid():  # without rights a test of faults is skipped, whatever it had begun
            for t in 'freed_writeback', 'lost_interrupt', 'late_vblank', 'map_shared_handle_stress':
                p = as_nobody(suite + '/' + t, env=s.env)
                assert p.returncode == 0 and p.stdout.splitlines()[-1].startswith('SKIP: ' + t), p
        for p in holders:
            p.communicate('end\n', timeout=30)
            assert p.returncode == 0
        d = ask('--map-shared-handle', handles[0], code=2, env=s.env)
        assert d['error']['status']['name'] == 'STATUS_INVALID_HANDLE' and 'lives' in d['error']['hint']
        assert subprocess.run([suite + '/map_shared_handle_stress'], env=s.env, capture_output=True, text=True).stdout.startswith('PASS')


@case
def a_running_service_is_broken_from_the_command_line():
    def tdrs(s):
        return u64(ask('--query-perf', env=s.env)['resets']['reset_from_timeout_count'])

    with Service('injected', 'TdrLimitCount = 20\n') as s:
        d = ask('--force-tdr', env=s.env)['tdr']
        assert u64(d['resets_before']) == 0 and u64(d['resets_after']) == 1 == tdrs(s)
        d = ask('--inject', 'stop-executor', env=s.env)['injected']
        assert d['fault'] == 'stop-executor' and d['value'] == 1 and 'stands still' in d['doc']
        subprocess.run([suite + '/readback_sanity'], env=s.env, stdout=subprocess.DEVNULL, timeout=60)  # hangs, and loses its device
        assert tdrs(s) == 2
        assert subprocess.run([suite + '/readback_sanity'], env=s.env, stdout=subprocess.DEVNULL, timeout=60).returncode == 0
        assert ask('--inject', 'lose-interrupt=0', env=s.env)['injected']['value'] == 0
        assert "no fault 'lose'; there are lose-interrupt, " in ask('--inject', 'lose', code=1, env=s.env)['error']['message']
        assert 'the value' in ask('--inject', 'lose-interrupt=x', code=1, env=s.env)['error']['message']
        ask('--inject', code=1, env=s.env)
        os.chmod(tmp, 0o755)
        os.chmod(s.socket, 0o666)  # who may connect may still not break it
        for args in ['--inject', 'kill-executor'], ['--force-tdr']:
            p = unprivileged(*args, env=s.env)
            if p:
                d = json.loads(p.stdout)
                assert p.returncode == 2 and d['error']['status']['name'] == 'STATUS_ACCESS_DENIED' and 'root' in d['error']['hint'], d
        assert tdrs(s) == 2
    d = ask('--inject', 'kill-executor', code=2)
    assert d['error']['status']['name'] == 'STATUS_NOT_SUPPORTED' and 'EnableFaultInjection' in d['error']['hint'], d


@case
def a_forced_reset_too_many_is_said():
    with Service('limit', 'TdrLimitCount = 1\n') as s:
        ask('--force-tdr', env=s.env)
        e = ask('--force-tdr', code=2, env=s.env)['error']
        assert '0x116' in e['message'] and e['status']['name'] == 'STATUS_DEVICE_REMOVED' and 'busy' not in e['hint'], e


@case
def a_runtime_folder_is_ours_or_not_used():
    folder = tmp + '/runtime'
    os.mkdir(folder)
    for owner in (os.getuid(), 65534) if not os.getuid() else (os.getuid(),):
        os.chown(folder, owner, -1)
        with subprocess.Popen([aerogpu, 'serve', '--ram', '64', '--json'], env=dict(os.environ, XDG_RUNTIME_DIR=folder), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as p:
            ready = p.stdout.readline()
            p.terminate()
            _, said = p.communicate(timeout=30)
        ours = owner == os.getuid()
        assert (folder in ready) == ours and ("is another user's" in said) == (not ours), (ready, said)


@case
def modes_go_there_and_back_as_often_as_asked():
    with Service('modes', '') as s:
        p = subprocess.run([suite + '/modeset_roundtrip_sanity', '--iterations=5'], env=s.env, capture_output=True, text=True, timeout=60)
        assert p.returncode == 0 and '5 of 5 round trips' in p.stdout, p


@case
def a_wait_that_hangs_fails_its_test():
    with Service('stopped', '') as s:
        p = subprocess.Popen([suite + '/wait_vblank_pacing', '--samples=100000', '--wait-timeout-ms=300', '--json=' + tmp + '/hang.json'],
                             env=s.env, stdout=subprocess.PIPE, text=True)
        until(lambda d: 'VBLANK' in d['samples'][0]['irq_enable_names'], lambda: ask('--dump-vblank', env=s.env))
        s.process.send_signal(signal.SIGSTOP)
        out = p.communicate(timeout=60)[0]
        s.process.send_signal(signal.SIGCONT)
        assert p.returncode == 1 and 'no vblank within 300 ms: the wait hangs' in out, out
        assert json.load(open(tmp + '/hang.json'))['status'] == 'FAIL'


@case
def it_answers_after_a_failed_reset():
    with Service('broken', '') as s:
        subprocess.run([suite + '/reset_failure', '--role=break'], env=s.env, check=True, timeout=60)
        for args in ALL:
            d = ask(*args, env=s.env)
            if args == ['--status']:
                for key in ('device', 'fences', 'perf', 'ring0', 'scanout0', 'vblank', 'last_error', 'createallocation_trace'):
                    assert d[key].get('supported') is not False, (key, d[key])
                assert u64(d['perf']['resets']['reset_from_timeout_count']) == 1
        d = ask('--wait-vblank', '--vblank-samples', '1', code=2, env=s.env)
        assert d['error']['status']['name'] == 'STATUS_DEVICE_REMOVED', d
        rc, out, _ = run('--status', env=s.env)
        assert rc == 0 and 'last_submitted_fence' in out
        json.dump(ask('--status', env=s.env), open(tmp + '/dead.json', 'w'))
    assert s.process.returncode == 1  # the service says that the adapter was given up


@case
def it_answers_when_the_service_is_saturated():
    load = [['submit_fence_stress', '--iterations=200000', '--wait-timeout-ms=100000']] * 6 + [['shared_surface_stress', '--iterations=100000']] * 2 + [
        ['many_clients', '--producers=64']]
    with Service('busy', '') as s:
        running = [subprocess.Popen([suite + '/' + a[0], *a[1:]], env=s.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    start_new_session=True) for a in load]
        try:
            time.sleep(1)
            before = u64(ask('--query-fence', env=s.env)['fences']['last_completed_fence'])
            for args in ALL:
                ask(*args, env=s.env)
            after = u64(ask('--query-fence', env=s.env)['fences']['last_completed_fence'])
            assert after > before, 'nothing was going on'
            assert sum(p.poll() is None for p in running) >= 6, 'the load has ended'
        finally:
            for p in running:
                if p.poll() is None:
                    os.killpg(p.pid, signal.SIGKILL)
                p.wait()


@case
def the_runner_checks_the_event_log():
    runner = os.path.dirname(dbgctl) + '/../test_runner/aerogpu_test_runner'

    def suite_run(*tests_and_args, log=tmp + '/events.log', code=0):
        names = [a for a in tests_and_args if not a.startswith('--')]
        with open(tmp + '/manifest', 'w') as f:
            f.write('# what to run\n' + '\n'.join(names) + '\n')
        p = subprocess.run([runner, '--bin-dir=' + suite, '--manifest=' + tmp + '/manifest', '--json=' + tmp + '/report.json',
                            '--log-dir=' + tmp + '/logs', '--dbgctl=' + dbgctl, '--event-log=' + log,
                            *[a for a in tests_and_args if a.startswith('--')]], capture_output=True, text=True, timeout=120)
        assert p.returncode == code, p
        return {t['test_name']: t for t in json.load(open(tmp + '/report.json'))['tests']}

    t = suite_run('fence_state_sanity', 'dma_fault', '--require-vid=0xA3A0')
    assert [e['id'] for e in t['dma_fault']['events']] == [4109] and not t['fence_state_sanity']['events']
    open(tmp + '/empty.log', 'w').close()  # an event that is missing, and what dbgctl says then
    t = suite_run('dma_fault', log=tmp + '/empty.log', code=1)
    assert t['dma_fault']['failure'] == 'the event log has Display 4109 0 times, expected 1', t
    assert any('dbgctl_dma_fault_status.txt' in a for a in t['dma_fault']['artifacts'])
    assert 'failures="1"' in open(tmp + '/report.xml').read()
    t = suite_run('vblank_wait_pacing', '--timeout-ms=200', code=1)
    assert t['vblank_wait_pacing']['exit_code'] == 124
    t = suite_run('no_such_test', code=1)
    assert t['no_such_test']['failure'] == 'the program is missing or cannot be started'


@case
def the_runner_kills_what_a_test_leaves():
    runner = os.path.dirname(dbgctl) + '/../test_runner/aerogpu_test_runner'
    place = tmp + '/strays'
    os.mkdir(place)
    for name, last in ('leaves', 'exit 0'), ('hangs', 'sleep 1000'):
        with open(place + '/' + name, 'w') as f:  # in a session of its own, and another behind it
            f.write('#!/bin/bash\nsetsid bash -c "echo \\$\\$ >> %s/pids; sleep 1000 & echo \\$! >> %s/pids; wait" &\n'
                    'while [ "$(wc -l < %s/pids)" -lt $1 ]; do sleep 0.01; done\n%s\n' % (place, place, place, last))
        os.chmod(place + '/' + name, 0o755)
    open(place + '/pids', 'w').close()
    for i, (name, code) in enumerate((('leaves', 0), ('hangs', 124))):
        with open(place + '/' + name) as f:
            text = f.read().replace('$1', str(2 * i + 2))
        with open(place + '/' + name, 'w') as f:
            f.write(text)
        with open(place + '/manifest', 'w') as f:
            f.write(name + '\n')
        p = subprocess.run([runner, '--bin-dir=' + place, '--manifest=' + place + '/manifest', '--timeout-ms=1500', '--json=' + place + '/r.json'],
                           capture_output=True, text=True, timeout=60)
        assert json.load(open(place + '/r.json'))['tests'][0]['exit_code'] == code, p
        pids = [int(x) for x in open(place + '/pids').read().split()]
        assert len(pids) == 2 * i + 2
        for pid in pids:  # gone, or a zombie that nobody waits for here
            try:
                assert open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0] == 'Z', pid
            except (FileNotFoundError, ProcessLookupError):
                pass


@case
def the_runner_can_be_interrupted():
    runner = os.path.dirname(dbgctl) + '/../test_runner/aerogpu_test_runner'
    with open(tmp + '/manifest', 'w') as f:
        f.write('device_state_sanity\nwait_vblank_pacing\nvblank_wait\n')
    p = subprocess.Popen([runner, '--bin-dir=' + suite, '--manifest=' + tmp + '/manifest', '--json=' + tmp + '/int.json', '--samples=100000'],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert 'PASS: device_state_sanity' in p.stdout.readline()
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=20)
    r = json.load(open(tmp + '/int.json'))
    assert p.returncode == 130 and r['status'] == 'FAIL' and r['interrupted'] is True and len(r['tests']) == 2, (p.returncode, r)
    assert r['tests'][1]['failure'] == 'the run was interrupted', r
    assert subprocess.run(['pgrep', '-f', suite + '/wait_vblank_pacing.*--samples=100000'], capture_output=True).returncode == 1


@case
def the_runner_and_its_files():
    runner = os.path.dirname(dbgctl) + '/../test_runner/aerogpu_test_runner'
    place = tmp + '/runner'
    os.mkdir(place)
    with open(place + '/manifest', 'wb') as f:
        f.write(b'\xef\xbb\xbf# comment\r\nvblank_wait and more words\r\n\r\n; c\n:: c\nREM c\n  device_state_sanity\n')

    def go(*args, env=None):
        own = [] if any('--manifest' in a for a in args) else ['--manifest=manifest']
        p = subprocess.run([runner, *own, *args], cwd=place, capture_output=True, text=True, timeout=60, env=env)
        return p.returncode, p.stdout, p.stderr

    rc, out, err = go('--json', '--log-dir=logs/deep', '--dbgctl=aerogpu_dbgctl', '--require-vid=0xA3A0', '--require-did=0x0001', '--require-umd')
    assert rc == 0 and 'PASS: 2 tests, PASS=2 FAIL=0 SKIP=0' in out, (out, err)
    report = json.load(open(place + '/report.json'))
    assert {k: report[k] for k in ('schema_version', 'suite_name', 'status', 'failures')} == {
        'schema_version': 1, 'suite_name': 'aerogpu_win7_validation', 'status': 'PASS', 'failures': 0}
    for t, name in zip(report['tests'], ('vblank_wait', 'device_state_sanity')):
        assert t['test_name'] == name and t['status'] == 'PASS' and t['exit_code'] == 0 and t['failure'] is t['skip_reason'] is None
        assert t['skipped'] is False and t['adapter']['vid'] == '0xA3A0' and t['adapter']['did'] == '0x0001' and 'timing' in t
        assert json.load(open('%s/%s.json' % (place, name)))['test_name'] == name  # beside the report
        assert os.path.exists('%s/logs/deep/%s.stdout.txt' % (place, name)) and os.path.exists('%s/logs/deep/%s.stderr.txt' % (place, name))
    rc, out, err = go('--json', '--log-dir=logs', '--dbgctl', 'aerogpu_dbgctl', '--require-did', '2')
    t = json.load(open(place + '/report.json'))['tests'][0]
    assert rc == 1 and t['status'] == 'FAIL' and t['failure'] == "the adapter's device is 0x0001, 0x0002 is required"
    for name in ('vblank_wait.stdout.txt', 'dbgctl_vblank_wait_status.txt', 'dbgctl_vblank_wait_query_error.txt', 'dbgctl_vblank_wait_dump_log.txt',
                 'dbgctl_vblank_wait_dump_last_cmd.txt', 'dbgctl_vblank_wait_cmd_0.bin', 'dbgctl_vblank_wait_cmd_3.bin.txt'):
        assert 'logs/' + name in t['artifacts'] and os.path.getsize(place + '/logs/' + name), (name, t['artifacts'])
    assert json.load(open(place + '/vblank_wait.json'))['artifacts'] == t['artifacts']
    os.mkdir(place + '/out')
    rc, out, err = go('--json=out/r.json', '--dbgctl', 'aerogpu_dbgctl', '--require-did', '2')  # without logs: beside the report
    t = json.load(open(place + '/out/r.json'))['tests'][0]
    assert rc == 1 and 'out/dbgctl_vblank_wait_status.txt' in t['artifacts'] and os.path.exists(place + '/out/r.xml'), t
    for args, says in ((['--samples=x'], "'x' is no number"), (['--bogus'], "unknown option '--bogus'")):  # the first test refuses it: that is all
        rc, out, err = go('--json', *args)
        t, = json.load(open(place + '/report.json'))['tests']
        assert err.count('\n') == 1 and says in err, err
        assert rc == 2 and t['failure'].startswith('exit code 2: it does not take these options') and t['exit_code'] == 2, t
    for code, args, text in ((3, ['--manifest=/dev/null'], 'names no test'), (3, ['--manifest=nope'], 'No such file'),
                             (4, ['--dbgctl=nope'], 'no program nope'), (2, ['--timeout-ms=0'], 'no number'), (2, ['--timeout-ms=-1'], 'no number'),
                             (2, ['--dbgctl-timeout-ms=1s'], 'no number'), (2, ['--timeout-ms'], "'--timeout-ms' requires an argument"),
                             (2, ['--json='], 'needs a path'), (2, ['word'], 'unexpected'), (4, ['--bin-dir=nope'], 'No such file'),
                             (4, ['--json=none/r.json'], 'No such file'), (4, ['--log-dir=/proc/x/y'], 'No such file'),
                             (3, ['--event-log=nope'], 'No such file'),
                             (2, ['--timeout-ms=9', '--timeout-ms=9'], "'--timeout-ms' is given twice")):
        rc, out, err = go(*args)
        assert rc == code and text in err and not out, (args, rc, out, err)
    assert go(env=dict(os.environ, AEROGPU_TEST_TIMEOUT_MS='soon'))[0] == 2
    rc, out, err = go('--json', env=dict(os.environ, AEROGPU_SOCKET=tmp + '/nobody'))
    assert rc == 1 and '`aerogpu serve` starts a service' in out, out


def doctor(*files, code=1):
    p = subprocess.run([aerogpu, 'doctor', '--json', *files], capture_output=True, text=True)
    assert p.returncode == code, (files, p)
    rows = json.loads(p.stdout)['diagnosis'] if code < 2 else []
    assert all(r['symptom'] and r['causes'] and r['first_checks'] and r['evidence'] for r in rows)
    return {r['signal'].split(' (')[0]: r['evidence'] for r in rows}


@case
def what_cannot_be_written_is_said():
    for args in ['--status'], ['--status', '--json'], ['--query-perf']:
        with open('/dev/full', 'w') as full:
            p = subprocess.run([dbgctl, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        assert p.returncode == 2 and 'standard output could not be written: No space left on device' in p.stderr, (args, p)


@case
def a_device_a_pipe_and_a_link_are_written_as_they_are():
    os.symlink('/dev/full', tmp + '/full')
    rc, _, err = run('--dump-last-cmd', '--cmd-out', tmp + '/full')
    assert rc == 2 and 'No space left on device' in err and os.readlink(tmp + '/full') == '/dev/full', (rc, err)
    assert not os.path.exists(tmp + '/full.part')
    os.symlink('linked.bin', tmp + '/link.bin')
    ask('--dump-last-cmd', '--cmd-out', tmp + '/link.bin')
    assert os.path.islink(tmp + '/link.bin') and open(tmp + '/linked.bin', 'rb').read(4) == b'ACMD'
    os.mkfifo(tmp + '/out.pipe')
    with subprocess.Popen(['cat', tmp + '/out.pipe'], stdout=subprocess.PIPE) as cat:
        rc, _, err = run('--dump-last-cmd', '--cmd-out', tmp + '/out.pipe')
        assert cat.communicate(timeout=20)[0][:4] == b'ACMD', (rc, err)


@case
def doctor_names_the_reset():
    json.dump(ask('--status'), open(tmp + '/status.json', 'w'))
    d = doctor(tmp + '/events.log', tmp + '/status.json')
    assert 'the driver counts 1 reset' in d['Display 4101'] and 'STATUS_DEVICE_REMOVED' in d, d
    assert 'error interrupts' in d['DMA fault'] or 'faulted' in d['DMA fault'], d
    json.dump(ask('--query-perf'), open(tmp + '/perf.json', 'w'))
    assert doctor(tmp + '/perf.json')['Display 4101'] == 'the driver counts 1 reset'
    p = subprocess.run([aerogpu, 'doctor', tmp + '/status.json'], capture_output=True, text=True)
    assert p.returncode == 1 and '  seen    the driver counts 1 reset\n' in p.stdout
    assert subprocess.run([aerogpu, 'doctor', '/dev/null'], capture_output=True).returncode == 3
    os.mkfifo(tmp + '/pipe')  # which nobody writes into: it is not waited for
    p = subprocess.run([aerogpu, 'doctor', tmp + '/pipe'], capture_output=True, text=True, timeout=20)
    assert p.returncode == 3 and 'it is no regular file' in p.stderr, p
    assert subprocess.run([aerogpu, 'doctor', tmp + '/nothing'], capture_output=True).returncode == 3
    assert subprocess.run([aerogpu, 'doctor'], capture_output=True).returncode == 2


@case
def doctor_names_every_row():
    """The rows of the table of symptoms, each from what says it; and none from a service that is well."""
    def put(name, *docs):
        with open(tmp + '/' + name, 'w') as f:
            for d in docs:
                f.write((d if isinstance(d, str) else json.dumps(d)) + '\n')
        return tmp + '/' + name

    def event(source, id, text='it said so'):
        return {'type': 'event', 'time': 1.5, 'source': source, 'id': id, 'text': text}

    with Service('well', '') as s:
        open(tmp + '/none.log', 'w').close()
        a, b = put('a.json', ask('--status', env=s.env)), put('b.json', ask('--status', env=s.env))
        w = put('w.json', ask('--wait-vblank', '--vblank-samples', '3', env=s.env))
        v = put('v.json', ask('--dump-vblank', '--vblank-samples', '3', '--vblank-interval-ms', '40', env=s.env))
        time.sleep(0.05)
        b = put('b.json', ask('--status', env=s.env))
        assert doctor(tmp + '/none.log', a, b, w, v, code=0) == {}
        subprocess.run([suite + '/segment_budget_sanity'], env=s.env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert 'of 524288 KiB are committed' in doctor(s.log)['STATUS_GRAPHICS_NO_VIDEO_MEMORY']
    assert doctor(put('e', event('Display', 4101), event('Display', 4101))).keys() == {'Display 4101', 'STATUS_DEVICE_REMOVED'}
    assert doctor(put('e', event('Display', 4109))).keys() == {'DMA fault'}
    assert doctor(put('e', event('BugCheck', 0x116))).keys() == {'BugCheck 0x116 VIDEO_TDR_FAILURE'}
    assert doctor(put('e', event('dxgkrnl', 5, 'no room'))) == {'STATUS_GRAPHICS_NO_VIDEO_MEMORY': 'event at 1500.0 ms: no room'}
    assert doctor(put('e', event('dxgkrnl', 4))).keys() == {'presents or vblank waits off their pace'}
    assert doctor(put('e', event('dxgkrnl', 1)), code=0) == {}
    for doc, row in (({'command': 'wait-vblank', 'ok': True, 'summary': {'avg_ms': 0.1, 'max_ms': 0.2}}, 'presents or vblank waits off their pace'),
                     ({'command': 'dump-vblank', 'ok': True, 'summary': {'stalls': 2}}, 'presents or vblank waits off their pace'),
                     ({'command': 'watch-fence', 'ok': True, 'stall_warnings': 3}, 'fences stand still and no 4101'),
                     ({'command': 'query-fence', 'ok': False, 'error': {'message': 'm', 'status': {'name': 'STATUS_TIMEOUT'}}},
                      'fences stand still and no 4101'),
                     ({'command': 'status', 'ok': False, 'error': {'message': 'm', 'status': {'name': 'STATUS_DEVICE_REMOVED'}}},
                      'STATUS_DEVICE_REMOVED')):
        assert doctor(put('x.json', doc)).keys() == {row}, doc
    stuck = {'command': 'query-fence', 'ok': True, 'fences': {'last_submitted_fence': {'dec': '9'}, 'last_completed_fence': {'dec': '7'}}}
    f = put('f.json', stuck)
    assert 'fence 7 stays' in doctor(f, f)['fences stand still and no 4101']
    settings = put('off', '[HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers]', 'TdrLevel = 0')
    assert 'TdrLevel is 0' in doctor('--settings', settings, f, f)['fences stand still and no 4101']
    run = {'tests': [{'test_name': 'dwm_flush_pacing', 'status': 'FAIL', 'failure': 'frames every 300 ms', 'events': [event('Display', 4101)]}]}
    assert doctor(put('r.json', run)).keys() == {'Display 4101', 'STATUS_DEVICE_REMOVED', 'presents or vblank waits off their pace'}


tmp = tempfile.mkdtemp(prefix='aerogpu-dbgctl-')
os.environ['AEROGPU_SOCKET'] = tmp + '/s'
with open(tmp + '/settings', 'w') as f:
    f.write('[HKLM\\SYSTEM\\CurrentControlSet\\Services\\aerogpu\\Parameters]\nEnableReadGpaEscape = 1\n')
server = subprocess.Popen([aerogpu, 'serve', '--socket', tmp + '/s', '--settings', tmp + '/settings', '--ram', '256',
                           '--event-log', tmp + '/events.log', '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
print('1..%d' % len(tests))
try:
    line = server.stdout.readline()
    assert '"ready"' in line, line
    for i, t in enumerate(tests):
        try:
            t()
            print('ok %d - %s' % (i + 1, t.__name__))
        except Exception as e:  # a test failed, whatever the reason
            print('not ok %d - %s' % (i + 1, t.__name__))
            print('# %s: %s' % (type(e).__name__, str(e).replace('\n', ' ')[:600]))
        sys.stdout.flush()
finally:
    server.terminate()
    server.wait(20)
    shutil.rmtree(tmp)
