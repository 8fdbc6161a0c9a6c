// Steps as text, one line each, for tests.
#pragma once

#include <string>

#include "advise/sources/sources.hpp"
#include "base/text.hpp"

namespace cudamatrix::tests {

[[nodiscard]] inline std::string place(const Location& where) {
    return fmt::format("{}:{}", where.line, where.column);
}

// What nobody knows before the build is shown as '?'.
[[nodiscard]] inline std::string shown(std::string text) {
    for (auto& c : text)
        if (c == sources::kOpen) c = '?';
    return text;
}

struct ShowStep {
    std::string& out;

    void operator()(const sources::PipInstall& one) const {
        out += "  " + one.tool + (one.python.empty() ? "" : " of python " + one.python) +
               (one.locked ? ", locked" : "") + (one.breaks_system ? ", into the system" : "") +
               (one.upgrades ? ", upgrading" : "") + ":";
        for (const auto& r : one.requirements)
            out += fmt::format(" {}{}{}{}@{}", r.name, shown(r.specifier),
                               r.url.empty() ? "" : "=" + shown(r.url),
                               r.marker.empty() ? "" : " if " + r.marker, place(r.where));
        for (const auto& index : one.indexes)
            out += fmt::format(" {} {}@{}",
                               index.kind == sources::IndexKind::index   ? "index"
                               : index.kind == sources::IndexKind::extra ? "extra"
                                                                         : "links",
                               shown(index.url), place(index.where));
        for (const auto& file : one.files)
            out += fmt::format(" -r {}@{}", shown(file.text), place(file.where));
        out += "\n";
    }
    void operator()(const sources::PipUninstall& one) const {
        out += "  uninstall: " + text::join(one.names, " ") + "\n";
    }
    void operator()(const sources::CondaInstall& one) const {
        out += "  conda:";
        for (const auto& spec : one.specs)
            out += fmt::format(" {}{}{}{}@{}", spec.channel.empty() ? "" : spec.channel + "::", spec.name,
                               spec.version.empty() ? "" : "=" + shown(spec.version),
                               spec.build.empty() ? "" : "=" + spec.build, place(spec.where));
        out += one.channels.empty() ? "\n" : " from " + text::join(one.channels, " ") + "\n";
    }
    void operator()(const sources::SystemInstall& one) const {
        out += "  packages:";
        for (const auto& package : one.packages)
            out += " " + shown(package.text);
        out += "\n";
    }
    void operator()(const sources::Variable& one) const {
        out += fmt::format("  {}={}\n", one.name, shown(one.value.text));
    }
    void operator()(const sources::PythonChoice& one) const {
        out += fmt::format("  {} is python {}\n", one.command, one.version);
    }
    void operator()(const sources::Gencode& one) const {
        out += fmt::format("  compiles for {}@{}\n", text::join(one.entries, " "), place(one.where));
    }
    void operator()(const sources::CopyFrom& one) const {
        out += fmt::format("  copy from {}: {}\n", shown(one.stage), text::join(one.paths, " "));
    }
    void operator()(const sources::CopyIn& one) const {
        out += fmt::format("  copy: {} to {}\n", text::join(one.from, " "), one.to);
    }
    void operator()(const sources::Start& one) const {
        out += "  starts:";
        for (const auto& word : one.words)
            out += " " + shown(word.text);
        out += "\n";
    }
    void operator()(const sources::Redirected& one) const {
        out += fmt::format("  redirected: {} {}@{}\n", one.requirement.text, one.rest,
                           place(one.requirement.where));
    }
    void operator()(const sources::Unmanaged&) const { out += "  unmanaged\n"; }
};

[[nodiscard]] inline std::string show(const sources::Source& source) {
    std::string out;
    for (const auto& stage : source.stages) {
        out += fmt::format("{}{}{}{}\n", stage.base.text.empty() ? "nothing" : shown(stage.base.text),
                           stage.name.empty() ? "" : " as " + stage.name,
                           stage.on ? fmt::format(" on {}", *stage.on) : "",
                           stage.arch.empty() ? "" : " for " + stage.arch);
        for (const auto& step : stage.steps)
            std::visit(ShowStep{out}, step);
    }
    for (const auto& build : source.builds) {
        out += fmt::format("build {} of {}{}", build.dockerfile, build.context,
                           build.target.empty() ? "" : ", target " + build.target);
        for (const auto& [name, value] : build.arguments)
            out += fmt::format(" {}={}", name, value);
        out += "\n";
    }
    for (const auto& skipped : source.skipped)
        out += fmt::format("skipped {}: {}: {}\n", place(skipped.where), skipped.what, skipped.why);
    return out;
}

}  // namespace cudamatrix::tests
