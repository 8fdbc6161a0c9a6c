#include "knowledge/rules/ask.hpp"

#include <algorithm>

namespace cudamatrix::rules {

Answer& Answer::because(FactRef fact) {
    finding_.facts.push_back(std::move(fact));
    return *this;
}

Answer& Answer::because(const std::vector<FactRef>& facts) {
    finding_.facts.insert(finding_.facts.end(), facts.begin(), facts.end());
    return *this;
}

Answer& Answer::because(const std::optional<Row>& row) {
    if (row) finding_.facts.push_back(row->ref());
    return *this;
}

Answer& Answer::bound(Bound bound) {
    finding_.bounds.push_back(std::move(bound));
    return *this;
}

Answer& Answer::fix(FixOption option) {
    return bound({.option = std::move(option)});
}

Answer& Answer::fix(std::vector<FixOption> options) {
    for (auto& option : options)
        fix(std::move(option));
    return *this;
}

Answer& Answer::fix(Field field, std::string_view value) {
    return fix(set_to(field, value));
}

Answer& Answer::at_least(Field field, std::string_view value) {
    return fix(set_to(field, value, fmt::format("{} >= {}", info(field).name, value)));
}

Answer& Answer::at(Field field) {
    finding_.primary = field;
    if (std::find(finding_.about.begin(), finding_.about.end(), field) == finding_.about.end())
        finding_.about.push_back(field);
    return *this;
}

void Ask::question(std::vector<Field> about, std::string text, std::string_view aspect) {
    about_ = std::move(about);
    reword(std::move(text));
    affirmed_.clear();
    aspect_ = aspect;
}

void Ask::reword(std::string text) {
    question_ = std::move(text);
    wording_ = nullptr;
}

Ask Ask::on(const ProjectedCell& other) const {
    Ask copy(Context::about(other), stage_, *out_);
    copy.question(about_, text(), aspect_);
    copy.affirmed_ = affirmed_;
    return copy;
}

Ask Ask::into(Findings& answers, Acceptances* passes) const {
    Ask copy = *this;
    copy.out_ = &answers;
    copy.accepted = passes;
    return copy;
}

Answer Ask::say(Severity severity, std::string message) {
    auto& finding = out_->emplace_back();
    finding.severity = severity;
    finding.stage = stage_;
    finding.aspect = aspect_;
    finding.primary = about_.front();
    finding.message = std::move(message);
    finding.about = about_;
    return Answer(finding);
}

Answer Ask::unknown(const Unresolved& gap) {
    auto answer = gap.never ? reject("{}", gap.what).because(*gap.never)
                            : unknown_as("{}: {} is unknown", gap.what, text());
    answer.finding().primary = gap.field;
    if (!gap.never) answer.finding().gap = gap.what;
    return answer.fix(gap.near);
}

void Ask::accept(std::vector<FactRef> because) {
    const auto* fact = doubtful(because);
    if (fact == nullptr) return record_pass(std::move(because));
    unknown_as("{} rests on fact {}, which is unverified: accepted if it is right", text(), fact->id)
        .because(because);
}

const FactRef* Ask::doubtful(const std::vector<FactRef>& facts) {
    const auto found = std::find_if(facts.begin(), facts.end(), [](const FactRef& fact) {
        return fact.confidence == Confidence::unverified;
    });
    return found == facts.end() ? nullptr : &*found;
}

void Ask::record_pass(std::vector<FactRef> because) {
    if (accepted == nullptr) return;
    constexpr std::string_view kAsked = "whether ";
    auto sentence = affirmed_.empty() ? text() : affirmed_;
    if (sentence.starts_with(kAsked)) sentence.erase(0, kAsked.size());
    accepted->push_back({{}, std::string(aspect_), stage_, about_, std::move(sentence), std::move(because)});
}

void Ask::once_per(std::string_view name, std::initializer_list<Field> fields,
                   const std::function<void(Ask&)>& judge) {
    if (memo == nullptr || accepted != nullptr) return judge(*this);
    std::string key(name);
    for (const auto field : fields)
        key.append("\x1f").append(cell.text(field));
    auto known = memo->answers.find(key);
    if (known == memo->answers.end()) {
        Findings answers;
        Ask once = into(answers, accepted);
        judge(once);
        known = memo->answers.emplace(std::move(key), std::move(answers)).first;
    }
    out_->insert(out_->end(), known->second.begin(), known->second.end());
}

}  // namespace cudamatrix::rules
