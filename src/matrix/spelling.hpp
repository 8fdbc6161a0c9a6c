// Usual spellings of values: what other tools call 12.8, x86_64 or ubuntu22.04 is read as that.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "matrix/field.hpp"

namespace cudamatrix {

/// What a text means in the words of a matrix file; empty where it is none that this one knows.
using Spelling = std::function<std::string(Field, std::string_view)>;

/// The spellings that need no facts: "v2.6.0", "cu128", "amd64", "sm_90", "g++-11". Empty for every value
/// that the field takes as it is, and for a text that could mean several.
[[nodiscard]] std::string usual_spelling(Field field, std::string_view text);

/// What else a field with a closed list of words takes, for the schema: amd64 and arm64 of arch.
[[nodiscard]] std::vector<std::string> spellings_of_choices(Field field);

/// One alternative of a condition with its values in the words of a matrix file: ">=v2.6,<v2.8" is
/// ">=2.6,<2.8". Patterns and values that `spelling` does not know stay as they are.
[[nodiscard]] std::string respelled_alternative(Field field, std::string_view text, const Spelling& spelling);

/// The same of "driver=<500,cuda=cu128", as condition_from_text and `explain` take it.
[[nodiscard]] std::string respelled_values(std::string_view text, const Spelling& spelling);

/// A value that was read as another one.
struct Respelt {
    Field field;
    std::string written;
    std::string meant;
    Location where;
};

/// note: "cu128" is read as cuda 12.8
[[nodiscard]] Diagnostic note_of(const Respelt& respelt);

}  // namespace cudamatrix
