// Result<T>: a value or the diagnostics that say why there is none. No exception crosses a folder.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.hpp"

namespace cudamatrix {

/// The program's exit codes: a public contract (see `cudamatrix --help`).
enum class ExitCode : int {
    success = 0,      ///< nothing to act on
    findings = 1,     ///< cells rejected or unknown (check), failed builds or tests, nothing attempted
    bad_input = 2,    ///< unreadable matrix file, wrong usage
    environment = 3,  ///< missing engine, no disk, I/O error
    without_gpu = 4,  ///< passed as far as can be without a GPU
    interrupted = 130,
};

/// The code of a run that met both: 130, 2, 3, 1, 4, 0 in that order.
[[nodiscard]] inline ExitCode worse(ExitCode a, ExitCode b) {
    using enum ExitCode;
    for (const ExitCode code : {interrupted, bad_input, environment, findings, without_gpu}) {
        if (code == a || code == b) return code;
    }
    return success;
}

/// Why an operation gave no value: the exit code that the program then ends with, and one or more
/// diagnostics.
struct Failure {
    ExitCode code = ExitCode::environment;
    std::vector<Diagnostic> diagnostics;
};

/// Failure of the environment or of I/O (exit code 3) in one sentence. `fix` may be empty.
[[nodiscard]] inline Failure environment_failure(std::string message, std::string fix = {}) {
    return Failure{ExitCode::environment, {Diagnostic::error(std::move(message)).with_fix(std::move(fix))}};
}

/// Failure of input or usage (exit code 2) in one sentence. `fix` may be empty.
[[nodiscard]] inline Failure input_failure(std::string message, std::string fix = {}) {
    return Failure{ExitCode::bad_input, {Diagnostic::error(std::move(message)).with_fix(std::move(fix))}};
}

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
    Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT

    [[nodiscard]] bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    [[nodiscard]] T& value() & { return std::get<0>(state_); }
    [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }

    [[nodiscard]] const Failure& failure() const& { return std::get<1>(state_); }
    [[nodiscard]] Failure&& failure() && { return std::get<1>(std::move(state_)); }

  private:
    std::variant<T, Failure> state_;
};

/// The value of an operation that only succeeds or fails.
struct Done {};
using Status = Result<Done>;

}  // namespace cudamatrix

/// Leaves the function with the failure of the Result or Status, else drops its value: keep what must live
/// on, such as a lock, with CM_TRY_ASSIGN.
#define CM_TRY(...) CM_TRY_NAMED(CM_UNIQUE(cm_tried_, __LINE__), __VA_ARGS__)
/// The same, else moves the value to `lhs`: CM_TRY_ASSIGN(const auto text, file::read(path, limit)). Several
/// statements: an `if` around it needs braces, and two of them need two lines.
#define CM_TRY_ASSIGN(lhs, ...) CM_TRY_ASSIGN_NAMED(CM_UNIQUE(cm_tried_, __LINE__), lhs, __VA_ARGS__)

#define CM_TRY_NAMED(tried, ...)                                                      \
    do {                                                                              \
        if (auto tried = __VA_ARGS__; !tried.ok()) return std::move(tried).failure(); \
    } while (false)
#define CM_TRY_ASSIGN_NAMED(tried, lhs, ...)            \
    auto tried = __VA_ARGS__;                           \
    if (!tried.ok()) return std::move(tried).failure(); \
    lhs = std::move(tried).value()
#define CM_UNIQUE(name, line) CM_JOINED(name, line)
#define CM_JOINED(name, line) name##line
