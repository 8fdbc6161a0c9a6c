// CUDAMATRIX_SANITIZED: a sanitizer of addresses or threads watches, and everything takes several times as
// long. gcc and clang say so in their own ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUDAMATRIX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CUDAMATRIX_SANITIZED 1
#endif
#endif
