// The form of every fact table: which columns it has, what their values look like, and which rows they name.
#pragma once

#include <span>
#include <string_view>

namespace cudamatrix::facts {

enum class Kind {
    text,        ///< any words
    version,     ///< see base/version.hpp
    compute,     ///< 7.5, 9.0a, 12.0f
    date,        ///< YYYY-MM-DD
    month,       ///< YYYY-MM-DD or YYYY-MM, which means its last day
    number,      ///< a whole number
    release,     ///< a version of a Python package (PEP 440)
    specifiers,  ///< clauses over one: ">=2.0,<3"
    demand,      ///< "numpy >=1.26; python >=3.12; arch x86_64"
    wheel_tag,   ///< cp312, cp313t, cp39-abi3, py3
    truth,       ///< true or false
    url,         ///< an address, see is_url
    source,      ///< see is_source
    level,       ///< measured, read, unverified
    condition,   ///< of a known problem: what `when.FIELD` or `when.packages.NAME` takes
    way_out,     ///< of a known problem: what `fix.FIELD` or `fix.packages.NAME` takes
};

enum class Form { scalar, list, either };

struct Column {
    std::string_view name;  ///< "when.*" is every column that begins so
    Kind kind = Kind::text;
    Form form = Form::scalar;
    bool required = false;
    /// "table.column": each value must stand there (a list counts by its elements). A suffix such as the t
    /// of 3.13t is left out, and so are ranges and words.
    std::string_view refers = {};
};

struct Schema {
    std::string_view table;
    std::string_view
        id;  ///< how an id is made of its row: "torch-{torch}+{variant}-{arch}"; what follows '*' is free
    std::span<const Column> columns;
    std::span<const std::string_view> one_of = {};  ///< columns of which each row has at least one
};

/// The columns that every table has: id, source, as_of, confidence, and the free remarks note and disputed.
[[nodiscard]] std::span<const Column> common_columns();
[[nodiscard]] std::span<const Schema> all_schemas();
[[nodiscard]] const Schema* schema_of(std::string_view table);

/// A public URL (https://), `github:OWNER/REPO@COMMIT:PATH`, `wheel:FILE.whl sha256:64 hexadecimal digits`,
/// or `sdist:FILE.tar.gz` (or .zip) or `deb:FILE.deb` with the same.
[[nodiscard]] bool is_source(std::string_view text);
/// "https://HOST/PATH" without a slash at its end.
[[nodiscard]] bool is_url(std::string_view text);
/// YYYY-MM-DD of a day that exists.
[[nodiscard]] bool is_date(std::string_view text);

/// Whether `value` is what a column of that kind holds. Private to knowledge/facts, like accepts().
[[nodiscard]] bool is_of(Kind kind, std::string_view value);
/// "a version such as 12.4.1", for messages.
[[nodiscard]] std::string_view accepts(Kind kind);

// The schemas by topic, one file each (schema_<topic>.cpp); all_schemas() joins them. Private to
// knowledge/facts.

inline constexpr bool kRequired = true;
inline constexpr bool kOptional = false;

[[nodiscard]] std::span<const Schema> build_schemas();
[[nodiscard]] std::span<const Schema> ci_schemas();
[[nodiscard]] std::span<const Schema> cuda_schemas();
[[nodiscard]] std::span<const Schema> image_schemas();
[[nodiscard]] std::span<const Schema> package_schemas();
[[nodiscard]] std::span<const Schema> symptom_schemas();
[[nodiscard]] std::span<const Schema> system_schemas();
[[nodiscard]] std::span<const Schema> torch_schemas();

}  // namespace cudamatrix::facts
