/* A libcuda.so.1 for tests of the driver probe. It answers as its environment says:
 *   FAKE_INIT     what cuInit returns (default 0)
 *   FAKE_DRIVER   what cuDriverGetVersion reports (default 12040)
 *   FAKE_DEVICES  number of devices (default 1)
 *   FAKE_CC       compute capability of each, as 75 or 120 (default 86)
 *   FAKE_MEMORY_MIB, FAKE_NAME
 *   FAKE_MODULE   what loading device code answers (default 0); FAKE_MODULE_PTX where CUDA_FORCE_PTX_JIT and
 *                 CUDA_CACHE_DISABLE are 1, FAKE_MODULE_SASS where CUDA_DISABLE_PTX_JIT is, FAKE_MODULE_ELF
 * for a cubin FAKE_LOG      what its compiler has to say about it FAKE_LAUNCH, FAKE_SYNC, FAKE_ALLOC  what
 * these calls answer (default 0) FAKE_ARCH     __CUDA_ARCH__ of the code that ran (default: of the device)
 *   FAKE_KERNEL   its defect: wrong (one sum), short (the last is not written), beyond (one more is), idle
 * (nothing is done), blocks (one does not report) Before a successful cuInit every other call but the version
 * answers 3 (not initialised), as the real one does. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kNotInitialized = 3,
    kInvalidDevice = 101,
    kInvalidImage = 200,
    kInvalidContext = 201,
    kInvalidHandle = 400,
    kNotFound = 500,
};

static int initialised = 0;

static int number(const char* name, int fallback) {
    const char* text = getenv(name);
    return text != NULL ? atoi(text) : fallback;
}

int cuInit(unsigned flags) {
    if (flags != 0) return kInvalidValue;
    const int answer = number("FAKE_INIT", kSuccess);
    initialised = answer == kSuccess;
    return answer;
}

int cuDriverGetVersion(int* version) {
    *version = number("FAKE_DRIVER", 12040);
    return kSuccess;
}

int cuDeviceGetCount(int* count) {
    if (!initialised) return kNotInitialized;
    *count = number("FAKE_DEVICES", 1);
    return kSuccess;
}

int cuDeviceGet(int* device, int ordinal) {
    if (!initialised) return kNotInitialized;
    if (ordinal < 0 || ordinal >= number("FAKE_DEVICES", 1)) return kInvalidDevice;
    *device = ordinal;
    return kSuccess;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
    (void)device;
    if (!initialised) return kNotInitialized;
    const int cc = number("FAKE_CC", 86);
    switch (attribute) {
        case 16:
            *value = 68;
            return kSuccess;
        case 75:
            *value = cc / 10;
            return kSuccess;
        case 76:
            *value = cc % 10;
            return kSuccess;
        default:
            return kInvalidValue;
    }
}

int cuDeviceGetName(char* name, int length, int device) {
    (void)device;
    if (!initialised) return kNotInitialized;
    const char* text = getenv("FAKE_NAME");
    snprintf(name, (size_t)length, "%s", text != NULL ? text : "Fake GPU");
    return kSuccess;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
    (void)device;
    if (!initialised) return kNotInitialized;
    *bytes = (size_t)number("FAKE_MEMORY_MIB", 24576) * 1024 * 1024;
    return kSuccess;
}

int cuDeviceGetUuid(void* uuid, int device) {
    if (!initialised) return kNotInitialized;
    memset(uuid, 0xab, 16);
    ((unsigned char*)uuid)[15] = (unsigned char)device;
    return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
    (void)device;
    if (!initialised) return kNotInitialized;
    *context = &initialised;
    return kSuccess;
}

static int current = 0;
int cuCtxSetCurrent(void* context) {
    if (context != &initialised) return kInvalidContext;
    current = 1;
    return kSuccess;
}

static int is_one(const char* name) {
    const char* text = getenv(name);
    return text != NULL && strcmp(text, "1") == 0;
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
    if (!current) return kInvalidContext;
    static const unsigned char kFatbin[] = {0x50, 0xed, 0x55, 0xba};
    const int elf = memcmp(image, "\177ELF", 4) == 0;
    if (!elf && memcmp(image, kFatbin, 4) != 0) return kInvalidImage;
    int answer = number("FAKE_MODULE", kSuccess);
    if (is_one("CUDA_FORCE_PTX_JIT") && is_one("CUDA_CACHE_DISABLE"))
        answer = number("FAKE_MODULE_PTX", answer);
    if (is_one("CUDA_DISABLE_PTX_JIT")) answer = number("FAKE_MODULE_SASS", answer);
    if (elf) answer = number("FAKE_MODULE_ELF", answer);
    const char* log = getenv("FAKE_LOG");
    if (answer != kSuccess && log != NULL && count == 2 && options[0] == 5 && options[1] == 6)
        snprintf(values[0], (size_t)values[1], "%s", log);
    *module = &current;
    return answer;
}

static int function = 0;
int cuModuleGetFunction(void** found, void* module, const char* name) {
    if (module != &current) return kInvalidHandle;
    if (strcmp(name, "cudamatrix_vadd") != 0 && strcmp(name, "cudamatrix_jit") != 0) return kNotFound;
    *found = &function;
    return kSuccess;
}

/* Device memory, never freed. */
static _Alignas(256) unsigned char memory[1 << 18];
static size_t used = 0;
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    if (!current) return kInvalidContext;
    const int answer = number("FAKE_ALLOC", kSuccess);
    const size_t padded = (bytes + 255) / 256 * 256;
    if (answer != kSuccess || padded > sizeof memory - used)
        return answer != kSuccess ? answer : kOutOfMemory;
    *address = (uint64_t)(uintptr_t)(memory + used);
    used += padded;
    return kSuccess;
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
    memcpy((void*)(uintptr_t)to, from, bytes);
    return kSuccess;
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
    memcpy(to, (const void*)(uintptr_t)from, bytes);
    return kSuccess;
}

/* The one kernel that there is: c = a + b. */
int cuLaunchKernel(void* started, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned ty,
                   unsigned tz, unsigned shared, void* stream, void** parameters, void** extra) {
    (void)stream;
    if (started != &function || y != 1 || z != 1 || threads == 0 || ty != 1 || tz != 1 || shared != 0 ||
        extra != NULL)
        return kInvalidValue;
    const int answer = number("FAKE_LAUNCH", kSuccess);
    if (answer != kSuccess) return answer;
    const struct {
        const float* a;
        const float* b;
        float* c;
        long n;
        unsigned* flag;
    }* args = parameters[0];
    const char* text = getenv("FAKE_KERNEL");
    const char* defect = text != NULL ? text : "";
    if (strcmp(defect, "idle") == 0) return kSuccess;
    const long n = args->n - (strcmp(defect, "short") == 0);
    for (long i = 0; i < n; ++i)
        args->c[i] = args->a[i] + args->b[i];
    if (strcmp(defect, "wrong") == 0) args->c[n / 2] += 1;
    if (strcmp(defect, "beyond") == 0) args->c[n] = 0;
    args->flag[0] = blocks - (strcmp(defect, "blocks") == 0);
    args->flag[1] = (unsigned)number("FAKE_ARCH", 10 * number("FAKE_CC", 86));
    return kSuccess;
}

int cuCtxSynchronize(void) {
    return number("FAKE_SYNC", kSuccess);
}
