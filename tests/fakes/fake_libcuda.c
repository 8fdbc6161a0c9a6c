/* A libcuda.so.1 for tests of the driver probe. It answers as its environment says:
 *   FAKE_INIT     what cuInit returns (default 0)
 *   FAKE_DRIVER   what cuDriverGetVersion reports (default 12040)
 *   FAKE_DEVICES  number of devices (default 1)
 *   FAKE_CC       compute capability of each, as 75 or 120 (default 86)
 *   FAKE_MEMORY_MIB, FAKE_NAME
 * Before a successful cuInit every other call but the version answers 3 (not initialised), as the real one does. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSuccess = 0, kInvalidValue = 1, kNotInitialized = 3, kInvalidDevice = 101 };

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
        case 16: *value = 68; return kSuccess;
        case 75: *value = cc / 10; return kSuccess;
        case 76: *value = cc % 10; return kSuccess;
        default: return kInvalidValue;
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
