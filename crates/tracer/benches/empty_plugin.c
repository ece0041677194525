// A plugin that is called at each load and store, and does nothing: what QEMU itself costs.
#include <stddef.h>
#include <stdint.h>

int qemu_plugin_version = 1;

size_t qemu_plugin_tb_n_insns(const void *block);
void *qemu_plugin_tb_get_insn(const void *block, size_t index);
void qemu_plugin_register_vcpu_mem_cb(void *insn, void (*)(unsigned, uint32_t, uint64_t, void *), int flags, int rw, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*)(uint64_t, void *));
void *dlsym(void *, const char *);

// Version 2 of the interface removed this function, and refuses version 1.
__attribute__((constructor)) static void choose_version(void) {
    qemu_plugin_version = dlsym(0, "qemu_plugin_n_vcpus") ? 1 : 2;
}

static void access_(unsigned vcpu, uint32_t info, uint64_t address, void *data) {}

static void translate(uint64_t id, void *block) {
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), access_, 0, 3, NULL);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}
