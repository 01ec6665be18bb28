/* SPDX-License-Identifier: MIT */
/* blackbox.c: a program of its own that uses the black box alone: a made-up device with one queue, markers in memory, a few
 * resources and a flight recorder. It hangs, makes a dump, and prints the report.
 *     aerogpu-blackbox-example [DUMP] */
#include <stdio.h>
#include <unistd.h>

#include <aerogpu/blackbox.h>

enum { EVENT_SUBMIT, EVENT_FAULT };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "/tmp/blackbox-example.aerogpudump";
    /* What the command processor met, and which markers it had written when everything stopped. */
    const struct bb_item queue[] = {
        {BB_ITEM_PUSH, false, "frame", 0},       {BB_ITEM_TOP, true, NULL, 1},
        {BB_ITEM_COMMAND, false, "draw sky", 2}, {BB_ITEM_BOTTOM, true, NULL, 3},
        {BB_ITEM_PUSH, false, "trees", 4},       {BB_ITEM_TOP, true, NULL, 5},
        {BB_ITEM_COMMAND, false, "draw oak", 6}, {BB_ITEM_BOTTOM, false, NULL, 7},
        {BB_ITEM_TOP, false, NULL, 8},           {BB_ITEM_COMMAND, false, "draw elm", 9},
    };
    struct bb_flight *flight = NULL;
    struct bb_resources *resources;
    struct bb_inference inference;
    struct bb_package *package;
    struct bb_error error = {0};
    struct bb_fault fault;
    int r;

    bb_flight_open(&flight, &(struct bb_flight_params){.name = "example"}, &error);
    bb_flight_name(flight, EVENT_SUBMIT, "submit(fence)");
    bb_flight_event(flight, EVENT_SUBMIT, 1, 0, 0);
    if (bb_resources_create(&resources, 0) || bb_package_create(&package, 0))
        return 1;
    bb_resources_add(
        resources,
        &(struct bb_resource){.id = 1, .name = "leaves", .kind = "buffer", .address = 0x10000, .size = 4096});
    bb_resources_remove(resources, 1, 1000);
    bb_resources_fault(resources, 0x10010, &fault);
    if (bb_infer(&inference, queue, sizeof(queue) / sizeof(queue[0]), BB_END_HANG))
        return 1;
    bb_meta(package, "reason", "timeout");
    bb_meta(package, "program", "example");
    bb_row(package, BB_TABLE_FINDING);
    bb_int(package, BB_finding_rank, 0);
    bb_text(package, BB_finding_certainty, inference.certainty == BB_CERTAIN ? "certain" : "candidate");
    bb_text(package, BB_finding_cause, bb_cause_desc(BB_CAUSE_HANG)->name);
    bb_textf(package, BB_finding_text, "In %s %s; %s", inference.path, inference.conclusion, fault.text);
    bb_row_end(package);
    unlink(path);
    r = bb_package_send(package, &(struct bb_send_params){.path = path}, &error);
    if (!r)
        r = bb_report(path, BB_REPORT_TEXT, stdout, &error);
    if (r)
        fprintf(stderr, "%s\n", error.text);
    bb_inference_finish(&inference);
    bb_package_destroy(package);
    bb_resources_destroy(resources);
    bb_flight_close(flight);
    return r != 0;
}
