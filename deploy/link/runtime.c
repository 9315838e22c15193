// What a release program brings with it in place of functions of newer versions of glibc. Compiled by deploy/build.sh, with hidden
// visibility: a library that is opened later, libcurl's or libpq's libgcc_s say, goes on with glibc's own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

// Swift's Glibc module has a wrapper of every function of libm in one piece, and glibc 2.35 gave `hypotf` a new version: whoever
// uses the module would need that glibc, although nothing here calls the function.
float hypotf(float x, float y) {
    double a = x, b = y;
    return (float)__builtin_sqrt(a * a + b * b);
}

// libgcc finds a function's unwinding table by this function of glibc 2.35's, and a crash is told with it. `dl_iterate_phdr` is
// older and knows the same.
struct search {
    uintptr_t address;
    struct dl_find_object *found;
};

static int find(struct dl_phdr_info *object, size_t size, void *argument) {
    (void)size;
    struct search *search = argument;
    uintptr_t table = 0, start = 0, end = 0;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        uintptr_t from = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME) table = from;
        if (segment->p_type == PT_LOAD && search->address >= from && search->address - from < segment->p_memsz) {
            start = from;
            end = from + segment->p_memsz;
        }
    }
    if (end == 0 || table == 0) return 0;
    search->found->dlfo_map_start = (void *)start;
    search->found->dlfo_map_end = (void *)end;
    search->found->dlfo_eh_frame = (void *)table;
    return 1;
}

int _dl_find_object(void *address, struct dl_find_object *found) {
    *found = (struct dl_find_object){0};
    struct search search = {(uintptr_t)address, found};
    return dl_iterate_phdr(find, &search) == 1 ? 0 : -1;
}
