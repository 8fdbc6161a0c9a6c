// What each key of a matrix file means, as the published schema and docs/matrix-file.md say it.
#pragma once

#include <span>
#include <string_view>

namespace cudamatrix {

struct SchemaText {
    std::string_view key;
    std::string_view text;
};

/// By key, as "axes", "build.cache", "services.gpu", and "fields.driver" of a cell's field.
[[nodiscard]] std::span<const SchemaText> schema_texts();
/// The text of that key; empty where there is none.
[[nodiscard]] std::string_view schema_text(std::string_view key);

}  // namespace cudamatrix
