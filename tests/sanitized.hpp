// CUDAMATRIX_SANITIZED: the address sanitizer watches, and everything takes several times as long. gcc and
// clang say so in their own ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CUDAMATRIX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDAMATRIX_SANITIZED 1
#endif
#endif
