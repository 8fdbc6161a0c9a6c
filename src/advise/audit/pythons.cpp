#include <algorithm>

#include "advise/audit/parts.hpp"
#include "advise/sources/text.hpp"
#include "base/text.hpp"

namespace cudamatrix::audit {

std::string python_minor(std::string_view version) {
    const auto parts = text::split(version, '.');
    return parts.size() < 2 ? std::string() : parts[0] + "." + parts[1];
}

void Pythons::begin(const BaseImage& base, std::string of_system, const Location& image) {
    base_ = base;
    system_ = base.python.empty() ? Chosen{std::move(of_system), image} : Chosen{base.python, image};
    system_is_there_ = !base.python.empty();
}

void Pythons::take(const sources::PythonChoice& choice) {
    const Chosen chosen{python_minor(choice.version), choice.where};
    if (choice.command == "venv") {
        venv_ = choice.version == "same" ? python3() : chosen;
        has_venv_ = true;
    } else if (choice.command == "pip") {
        pip_ = choice.version == "same" ? python3() : chosen;
    } else {
        commands_[choice.command] = chosen;
    }
}

void Pythons::take_uv(const sources::Word& value) {
    if (!value.is_open()) venv_ = {python_minor(value.text), value.where};
}

void Pythons::take_package(std::string_view name, const Location& where) {
    const bool brings = name == "python3" || name == "python3-pip" || name == "python3-dev" ||
                        name == "python3-venv" || name == "python3-full" || name == "python-is-python3";
    if (!brings || system_is_there_) return;
    system_is_there_ = true;
    system_.where = where;
}

Chosen Pythons::python3() const {
    const auto found = commands_.find("python3");
    if (found != commands_.end()) return found->second;
    return system_is_there_ ? system_ : Chosen{};
}

Chosen Pythons::of(const sources::PipInstall& install) const {
    if (install.locked) return {};
    if (!install.python.empty()) return {python_minor(install.python), install.where};
    if (!venv_.text.empty()) return venv_;
    if (!conda_.text.empty()) return conda_;
    if (base_.conda) return {};
    if (!pip_.text.empty()) return pip_;
    return python3();
}

Chosen Pythons::of_image() const {
    if (!venv_.text.empty()) return venv_;
    if (!conda_.text.empty()) return conda_;
    return base_.python.empty() ? Chosen{} : system_;
}

bool Pythons::is_plain(const sources::PipInstall& install) const {
    return install.python.empty() && venv_.text.empty() && conda_.text.empty() && !base_.conda;
}

bool Pythons::writes_into_system(const sources::PipInstall& install) const {
    return is_plain(install) && !has_venv_ && install.tool == "pip" && !install.breaks_system &&
           base_.python.empty() && pip_.text.empty() && commands_.empty();
}

Chosen Pythons::started_by(const sources::Start& start) const {
    if (start.words.empty()) return {};
    const auto& program = start.words[0];
    const std::string name(sources::file_name(program.text));
    if (const auto found = commands_.find(name); found != commands_.end()) return found->second;
    if (!name.starts_with("python")) return {};
    return {python_minor(name.substr(6)), program.where};
}

}  // namespace cudamatrix::audit
