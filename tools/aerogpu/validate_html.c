#include "validate.h"

int validate_html(const char *path, const json_t *report, struct error *e)
{
    (void)path, (void)report, (void)e;
    return 0;
}
