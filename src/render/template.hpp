// A strict subset of Mustache: every value names its context, every name must exist, every mistake has a
// position.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "render/data.hpp"

namespace cudamatrix::mustache {

struct Template;

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

    /// Adds or replaces `name` ("debian/Dockerfile.mustache"); `shown` is what messages call it.
    void add(std::string name, std::string text, std::string shown);
    /// Replaces by name what lies in `directory` (same layout). A missing directory, and a file there that
    /// replaces nothing, are input failures: a typing error must not go unseen.
    [[nodiscard]] Status override_from(const std::filesystem::path& directory);

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
    };
    [[nodiscard]] Result<const Template*> parsed(const std::string& name, const std::string& indent);
    friend class Filler;

    std::map<std::string, File, std::less<>> files_;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<Template>> parsed_;
};

}  // namespace cudamatrix::mustache
