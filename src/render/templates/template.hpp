// A strict subset of Mustache: every value names its context, every name must exist, every mistake has a
// position.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "render/templates/data.hpp"

namespace cudamatrix::mustache {

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

}  // namespace cudamatrix::mustache
