// Whether this build has sanitizers, which GCC and Clang tell in different ways.
//
// KENAZ_SANITIZES_ADDRESSES, KENAZ_SANITIZES_THREADS: 1 or 0; KENAZ_IS_SANITIZED: any of the two.
#pragma once

#if defined(__has_feature)
#define KENAZ_HAS_FEATURE(name) __has_feature(name)
#else
#define KENAZ_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || KENAZ_HAS_FEATURE(address_sanitizer)
#define KENAZ_SANITIZES_ADDRESSES 1
#else
#define KENAZ_SANITIZES_ADDRESSES 0
#endif

#if defined(__SANITIZE_THREAD__) || KENAZ_HAS_FEATURE(thread_sanitizer)
#define KENAZ_SANITIZES_THREADS 1
#else
#define KENAZ_SANITIZES_THREADS 0
#endif

#define KENAZ_IS_SANITIZED (KENAZ_SANITIZES_ADDRESSES || KENAZ_SANITIZES_THREADS)
