/* aerogpu d3d12 play: makes the calls of a recording again. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "d3d12.h"
#include "d3d12/play/play.h"

static const char usage[] =
    "usage: aerogpu d3d12 play [OPTIONS] FILE\n\n"
    "Plays a recording on this machine's Direct3D 12 device, without a window.\n"
    "  --validate       compare every frame and every memory read back with the recording; exit 1 if one "
    "differs\n"
    "  --until-call N   stop after call N; --until-frame N after frame N\n"
    "  --stop-before N  from call N on draw, copy and clear nothing; stop after that frame\n"
    "  --png DIR        write the frames' pictures (with --frames A-B: those of a range)\n"
    "  --draws A-B      with --png: also the picture after each draw among calls A to B\n"
    "  --dump-resource N[:SUB]=FILE  what resource N holds at the end: bytes, or a picture if FILE ends in "
    ".png\n"
    "  --gpu-time       how long each frame's lists take on the GPU\n"
    "  --paced          frames no earlier than they were recorded (else as fast as the device allows)\n"
    "  --loop N         play it N times\n"
    "  --timeout MS     how long a fence may take (10000)\n";

static int report(const struct play_result *r, bool validate)
{
    printf("%llu calls, %u frames in %.3f s", (unsigned long long)r->calls, r->frames, r->seconds);
    if (r->frames && r->seconds > 0)
        printf(" (%.0f a second)", r->frames / r->seconds);
    printf("\n");
    if (r->gpu_ms > 0)
        printf("%.3f ms on the GPU\n", r->gpu_ms);
    if (!validate)
        return EXIT_OK;
    printf("frames: %u as recorded, %u different; read back: %u as recorded, %u different\n", r->frames_same,
           r->frames_different, r->reads_same, r->reads_different);
    if (r->frames_different)
        printf("the first different frame is %u\n", r->first_different);
    if (r->reads_of_times)
        printf("%u reads of timestamps are not compared\n", r->reads_of_times);
    if (r->reads_different)
        printf("the first different read is call %llu\n", (unsigned long long)r->first_read_call);
    if (!r->frames_same && !r->frames_different && !r->reads_same && !r->reads_different)
        printf("the recording has no hashes to compare with\n");
    return r->frames_different || r->reads_different ? EXIT_FAILED : EXIT_OK;
}

/* "N[:SUB]=FILE" */
static int parse_dump(struct play_params *p)
{
    char *end;

    p->dump_resource = (uint32_t)strtoul(optarg, &end, 10);
    if (*end == ':')
        p->dump_sub = (uint32_t)strtoul(end + 1, &end, 10);
    p->dump_path = end + 1;
    return end == optarg || *end != '=' || !end[1]
               ? usage_error("--dump-resource needs N[:SUB]=FILE, not '%s'", optarg)
               : 0;
}

/* -1: the help was asked for. */
static int parse(int argc, char **argv, struct play_params *p, uint64_t *loops)
{
    static const struct option options[] = {{"validate", no_argument, NULL, 'v'},
                                            {"until-call", required_argument, NULL, 'c'},
                                            {"until-frame", required_argument, NULL, 'f'},
                                            {"png", required_argument, NULL, 'p'},
                                            {"frames", required_argument, NULL, 'r'},
                                            {"loop", required_argument, NULL, 'l'},
                                            {"stop-before", required_argument, NULL, 's'},
                                            {"draws", required_argument, NULL, 'd'},
                                            {"dump-resource", required_argument, NULL, 'D'},
                                            {"gpu-time", no_argument, NULL, 'g'},
                                            {"paced", no_argument, NULL, 'P'},
                                            {"timeout", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int o, bad = 0;

    while (!bad && (o = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (o) {
        case 'v':
            p->validate = true;
            break;
        case 'c':
            bad = option_u64("--until-call", 0, UINT64_MAX, &p->until_call);
            break;
        case 'f':
            bad = option_u32("--until-frame", 0, UINT32_MAX, &p->until_frame);
            break;
        case 'p':
            p->png_dir = optarg;
            break;
        case 'r':
            bad = option_range_u32("--frames", &p->png_first, &p->png_last);
            break;
        case 's':
            bad = option_u64("--stop-before", 0, UINT64_MAX, &p->stop_before);
            break;
        case 'd':
            bad = option_range("--draws", &p->draw_first, &p->draw_last);
            break;
        case 'D':
            bad = parse_dump(p);
            break;
        case 'g':
            p->gpu_time = true;
            break;
        case 'P':
            p->paced = true;
            break;
        case 'l':
            bad = option_u64("--loop", 1, UINT64_MAX, loops);
            break;
        case 't':
            bad = option_u32("--timeout", 1, UINT32_MAX, &p->timeout_ms);
            break;
        case 'h':
            fputs(usage, stdout);
            return -1;
        default:
            return usage_error(NULL);
        }
    if (!bad && optind + 1 != argc)
        return usage_error("one recording is needed");
    if (!bad && p->stop_before != UINT64_MAX && p->validate)
        return usage_error("what is left out with --stop-before cannot be compared with --validate");
    return bad;
}

int d3d12_play(int argc, char **argv)
{
    struct play_params p = {.until_call = UINT64_MAX,
                            .until_frame = UINT32_MAX,
                            .png_last = UINT32_MAX,
                            .stop_before = UINT64_MAX,
                            .draw_first = 1};
    static struct play_progress progress;
    uint64_t loops = 1;
    struct play_result r;
    struct error e = {0};
    struct trc *t;
    int code = parse(argc, argv, &p, &loops);

    if (code)
        return code < 0 ? EXIT_OK : code;
    if (trc_open(&t, argv[optind], &e))
        return d3d12_fail("play", &e);
    if (p.png_dir && mkdir(p.png_dir, 0777) && errno != EEXIST) {
        fprintf(stderr, "aerogpu d3d12 play: %s: %s\n", p.png_dir, strerror(errno));
        trc_close(t);
        return EXIT_FAILED;
    }
    if (*trc_cut(t))
        fprintf(stderr, "aerogpu d3d12 play: %s; what stands before that is played\n", trc_cut(t));
    p.progress = &progress;
    d3d12_guard("play", t, &progress);
    for (uint64_t i = 0; i < loops && code == EXIT_OK; i++) {
        trc_rewind(t);
        code = play_run(t, &p, &r, &e) ? d3d12_fail("play", &e) : EXIT_OK;
        if (code == EXIT_OK)
            code = report(&r, p.validate);
        else
            report(&r, false);
    }
    trc_close(t);
    /* What the recorded program never released is still alive, and so are the driver's threads that work on it: end
     * without taking the driver apart under them. */
    fflush(stderr);
    _exit(command_end(code));
}
