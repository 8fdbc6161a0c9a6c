// A strict subset of Mustache: every value names its context, every name must exist, every mistake has a
// position.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "render/templates/context.hpp"

namespace cudamatrix::mustache {

// The data that a template is filled from.

/// A text, a truth, a list or an object. Numbers are texts: a template never computes.
class Data {
  public:
    using List = std::vector<Data>;
    using Object = std::map<std::string, Data, std::less<>>;

    // Not inline: g++ 12 takes what it inlines of a variant's copy for uninitialised.
    Data(const Data& other);
    Data(Data&& other) noexcept;
    Data& operator=(const Data& other);
    Data& operator=(Data&& other) noexcept;
    ~Data();

    Data() : data_(std::string()) {}
    Data(std::string text) : data_(std::move(text)) {}         // NOLINT: implicit on purpose
    Data(std::string_view text) : data_(std::string(text)) {}  // NOLINT
    Data(const char* text) : data_(std::string(text)) {}       // NOLINT
    Data(bool truth) : data_(truth) {}                         // NOLINT
    Data(List list) : data_(std::move(list)) {}                // NOLINT
    Data(Object object) : data_(std::move(object)) {}          // NOLINT
    Data(const std::vector<std::string>& texts) : data_(List(texts.begin(), texts.end())) {}  // NOLINT

    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data_); }
    [[nodiscard]] const bool* truth() const { return std::get_if<bool>(&data_); }
    [[nodiscard]] const List* list() const { return std::get_if<List>(&data_); }
    [[nodiscard]] const Object* object() const { return std::get_if<Object>(&data_); }

    /// "a text", "a boolean", "a list", "an object": for messages.
    [[nodiscard]] std::string_view kind() const;

  private:
    std::variant<std::string, bool, List, Object> data_;
};

struct Template;

/// Where a line of the output comes from: the place in a template that wrote its first character, and the
/// partial tags through which that template was reached, innermost first.
struct Origin {
    Location at;
    std::vector<Location> through;
};

/// What somebody wants to see of the filling of templates; set in a Library.
struct Watch {
    /// Mistakes are collected and the filling goes on; sections of booleans are entered whether they are true
    /// or not, so that what stands in them is looked at as well.
    bool check = false;
    std::vector<Diagnostic> mistakes;  ///< each once

    /// The origins of the lines of every text that was filled, by that text.
    bool origins = false;
    std::map<std::string, std::vector<Origin>> lines;
};

/// A folder of templates. What a template may hold:
///     {{ name | context }}          a text, escaped for where it lands (context.hpp); {{ . | context }} is
///     the item itself
///     {{# name }} ... {{/ name }}   once for each item of a list, inside an object, or if a boolean is true
///     {{^ name }} ... {{/ name }}   if a list is empty or a boolean is false
///     {{> name }}                   partials/name.mustache beside the template, indented as the tag is
///     {{! comment }}
/// Names may be dotted; an item's names hide those around it. A tag alone on its line leaves no line behind.
/// Delimiters, lambdas and unescaped values do not exist.
class Library {
  public:
    Library();
    ~Library();
    Library(Library&&) noexcept;
    Library& operator=(Library&&) noexcept;

    /// The same templates for another thread: one library is used by one at a time.
    [[nodiscard]] Library copy() const;

    /// Adds or replaces `name` ("debian/Dockerfile.mustache"); `shown` is what messages call it.
    void add(std::string name, std::string text, std::string shown);
    /// Replaces by name what lies in `directory` (same layout), and adds the partials there that a template
    /// includes. A missing directory, and a file there that replaces nothing and that no template includes,
    /// are input failures: a typing error must not go unseen.
    [[nodiscard]] Status override_from(const std::filesystem::path& directory);

    /// `watch` (may be null) outlives the library.
    void set_watch(Watch* watch) { watch_ = watch; }
    /// Syntax mistakes of all templates.
    [[nodiscard]] std::vector<Diagnostic> syntax_mistakes();

    struct Listed {
        std::string name;    ///< "debian/Dockerfile.mustache"
        std::string shown;   ///< what messages call it
        bool own = false;    ///< it lies in the user's folder ...
        bool added = false;  ///< ... and replaces none of ours: a partial of the user's
        std::string text;
        std::vector<std::string> included_by;  ///< of a partial: templates and partials, sorted
    };
    /// All templates, sorted by name. Who includes a partial is read from what parses.
    [[nodiscard]] std::vector<Listed> list() const;

    /// SHA-256 over names and texts.
    [[nodiscard]] std::string hash() const;
    [[nodiscard]] bool has(std::string_view name) const;

    /// The template `name` filled from `model` (an object). Mistakes in the template and values that cannot
    /// be written in their context are input failures at file:line:col of the template; all syntax mistakes
    /// of a file come at once.
    [[nodiscard]] Result<std::string> fill(std::string_view name, const Data& model);

  private:
    struct File {
        std::string text;
        std::string shown;
        bool own = false;
        bool added = false;
    };
    struct Includes;
    /// What templates include, those that partials include among it.
    [[nodiscard]] Includes includes() const;
    /// The file that {{> name }} takes in a template of `folder` ("debian/"); empty: there is none.
    [[nodiscard]] std::string partial_of(const std::string& folder, const std::string& name) const;
    [[nodiscard]] Result<const Template*> parsed(const std::string& name, const std::string& indent);
    friend class Filler;

    std::map<std::string, File, std::less<>> files_;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<Template>> parsed_;
    Watch* watch_ = nullptr;
};

// From the text of a template to its tree.

struct Node {
    enum class Kind { text, value, section, inverted, partial } kind = Kind::text;
    std::string text;                ///< the literal, or the name
    Context context = Context::env;  ///< of a value
    Location where;
    std::string indent;          ///< of a partial that stands alone on its line
    std::vector<Node> children;  ///< of a section
};

struct Template {
    std::vector<Node> nodes;
    std::vector<std::string> partials;  ///< the names in its tags {{> name }}
};

/// Parses `text`. `indent` is put before each of its lines (a partial takes the indentation of its tag) and
/// does not count in positions. All mistakes are reported.
[[nodiscard]] Result<Template> parse_template(std::string_view text, const std::string& shown,
                                              const std::string& indent);

}  // namespace cudamatrix::mustache

namespace cudamatrix {

// The files that the build put into the binary: it works alone, wherever it is copied.

struct EmbeddedFile {
    std::string_view path;
    std::string_view content;
};

/// All of them, sorted by path (generated by embed/embed_files.cpp): "matrix/default.yaml",
/// "src/report/page/...", "suite/kernels/...", "suite/fatbin/...", "templates/debian/...".
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

/// Those whose path begins with `folder` ("templates/").
[[nodiscard]] std::span<const EmbeddedFile> embedded_below(std::string_view folder);

/// The embedded templates, named as below templates/ ("debian/Dockerfile.mustache").
[[nodiscard]] mustache::Library embedded_templates();

/// The sources of the kernel suite, as they lie in an image's folder.
struct SuiteFile {
    std::string path;  ///< below suite/: "kernels/compute/vadd.cu", "fatbin/object_files.hpp"
    std::string content;
};

/// The embedded suite, sorted by path.
[[nodiscard]] std::vector<SuiteFile> embedded_suite();
/// The suite below `folder`, which holds kernels/ and fatbin/; only file types that the embedded one has are
/// taken.
[[nodiscard]] Result<std::vector<SuiteFile>> suite_from(const std::filesystem::path& folder);
/// True for what is compiled without nvcc: a changed kernel must not change an image that has none.
[[nodiscard]] bool is_host_part(std::string_view suite_path);
/// SHA-256 over paths and contents.
[[nodiscard]] std::string suite_hash(const std::vector<SuiteFile>& suite);

}  // namespace cudamatrix
