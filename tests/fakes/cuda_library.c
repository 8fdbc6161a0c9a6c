// Stands in for a CUDA library that torch_libraries.py loads: NAME is what its functions begin with, VERSION its three numbers.
// DEFECT: 1 random numbers of which one is wrong, 2 room for a tensor that is too small, 3 no version, 4 a symbol that nothing has.
#include <stddef.h>
#include <stdint.h>

#ifndef DEFECT
#define DEFECT 0
#endif
#define JOINED(a, b) a##b
#define CALL(name, rest) JOINED(name, rest)

#ifdef NEEDS
extern int NEEDS(void);
int CALL(NAME, Uses)(void) { return NEEDS(); }
#endif
#ifdef GIVES
int GIVES(void) { return 1; }
#endif
#if DEFECT == 4
extern int nobody_has_this(void);
int CALL(NAME, Lacks)(void) { return nobody_has_this(); }
#endif

int CALL(NAME, GetProperty)(int which, int* value) {
    static const int kVersion[] = {VERSION};
    *value = kVersion[which];
    return DEFECT == 3;
}

int ncclGetVersion(int* value) {
    static const int kVersion[] = {VERSION};
    *value = kVersion[0] * (kVersion[1] < 9 ? 1000 : 10000) + kVersion[1] * 100 + kVersion[2];
    return DEFECT == 3;
}

static uint64_t seed;
int curandCreateGeneratorHost(void** generator, int kind) {
    *generator = &seed;
    return kind != 161;
}
int curandSetPseudoRandomGeneratorSeed(void* generator, unsigned long long value) {
    *(uint64_t*)generator = value;
    return 0;
}
int curandGenerate(void* generator, uint32_t* out, size_t count) {
    const uint64_t from = *(uint64_t*)generator;
    for (uint32_t block = 0; block < count / 4; ++block) {
        uint32_t c[4] = {0, 0, block, 0}, k[2] = {(uint32_t)from, (uint32_t)(from >> 32)};
        for (int round = 0; round < 10; ++round) {
            const uint64_t p = (uint64_t)0xD2511F53 * c[0], q = (uint64_t)0xCD9E8D57 * c[2];
            const uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ k[0], (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k[1], (uint32_t)p};
            for (int i = 0; i < 4; ++i)
                c[i] = next[i];
            k[0] += 0x9E3779B9;
            k[1] += 0xBB67AE85;
        }
        for (int i = 0; i < 4; ++i)
            out[4 * block + i] = c[i] + (DEFECT == 1 && block == 1023 && i == 3);
    }
    return 0;
}
int curandDestroyGenerator(void* generator) { return generator == NULL; }

static size_t room;
int cudnnCreateTensorDescriptor(void** tensor) {
    *tensor = &room;
    return 0;
}
int cudnnSetTensor4dDescriptor(void* tensor, int format, int type, int n, int c, int h, int w) {
    *(size_t*)tensor = (size_t)4 * n * c * h * w;
    return format + type;
}
int cudnnGetTensorSizeInBytes(void* tensor, size_t* bytes) {
    *bytes = *(size_t*)tensor - (DEFECT == 2);
    return 0;
}
int cudnnDestroyTensorDescriptor(void* tensor) { return tensor == NULL; }
