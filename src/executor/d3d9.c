#include <errno.h>
#include <string.h>
#include "executor/d3d9.h"
#include "executor/shader_internal.h"
bool d3d9_is(const void *b, size_t n){uint32_t v=0; if(n<4)return 0; memcpy(&v,b,4); return v>>17==0x7fff;}
int shader_d3d9_init(struct shader *s, struct error *e){return error_set(e,-ENOTSUP,"Direct3D 9 bytecode is not translated");}
void d3d9_program_destroy(struct d3d9_program *p){}
struct shader_variant d3d9_relevant(const struct shader *s, const struct shader_variant *v){return *v;}
int d3d9_translate(const struct shader *s, const struct shader *pixel, const struct shader_variant *v,uint32_t **words, size_t *count, struct error *e){return -ENOTSUP;}
void d3d9_print(struct strbuf *out, const void *bytes, size_t size){}
