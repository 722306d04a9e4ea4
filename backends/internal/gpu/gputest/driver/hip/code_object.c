/* Kernels of the tests' driver as an ELF for an AMD chip has them. Each has a descriptor, whose symbol is its name and ".kd". */
#include "../parts.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVALID_IMAGE = 200,
    NO_BINARY_FOR_GPU = 209,
    MACHINE = 224,            /* EM_AMDGPU */
    CHIP_MASK = 0xff,         /* EF_AMDGPU_MACH */
    ARGUMENT_BYTES = 8,       /* where a descriptor has how many bytes a kernel takes */
    HIDDEN_ARGUMENTS = 256,   /* which follow its own, where it asks for them */
};

/* chip returns what the headers of code for this process's GPUs say, as LLVM's manual of the target has them. */
static unsigned chip(void) {
    static const struct {
        const char *name;
        unsigned flag;
    } chips[] = {{"gfx90a", 0x3f}, {"gfx942", 0x4c}, {"gfx1100", 0x41}};
    const char *name = fake_architecture();
    const size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (strlen(chips[i].name) == length && strncmp(chips[i].name, name, length) == 0)
            return chips[i].flag;
    return 0;
}

void *fake_module(const void *image, int *rc) {
    if (*fake_architecture() == 0)
        return fake_ptx_module(image, rc);
    const Elf64_Ehdr *head = image;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_machine != MACHINE || head->e_shnum == 0) {
        *rc = INVALID_IMAGE;
        return NULL;
    }
    if ((head->e_flags & CHIP_MASK) != chip()) {
        *rc = NO_BINARY_FOR_GPU;
        return NULL;
    }
    const size_t size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize; /* the linker writes these headers last */
    void *module = malloc(size);
    *rc = 0;
    return memcpy(module, image, size);
}

size_t fake_argument(const void *module, const char *name) {
    if (*fake_architecture() == 0)
        return fake_ptx_argument(module, name);
    const char *at = module;
    const Elf64_Ehdr *head = module;
    const Elf64_Shdr *sections = (const void *)(at + head->e_shoff);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s.kd", name);
    for (int i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const void *)(at + sections[i].sh_offset);
        const char *names = at + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            if (strcmp(names + symbols[k].st_name, wanted) != 0)
                continue;
            const Elf64_Shdr *in = &sections[symbols[k].st_shndx];
            uint32_t bytes;
            memcpy(&bytes, at + in->sh_offset + (symbols[k].st_value - in->sh_addr) + ARGUMENT_BYTES, sizeof bytes);
            return bytes > HIDDEN_ARGUMENTS ? bytes - HIDDEN_ARGUMENTS : bytes;
        }
    }
    return 0;
}
