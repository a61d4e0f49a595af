import re,subprocess,shutil,os
os.chdir('.')
def rd(p): return open(p).read()
def wr(p,t): open(p,'w').write(t)
O='docs/decisions/0010/reasons/'
# model
shutil.copy(O+'reason.h','src/model/reason.h'); shutil.copy(O+'reason.cpp','src/model/reason.cpp')
t=rd('src/model/plan.h')
i=t.index('/// Why something waits or was refused.'); j=t.index('/// What a waiting job needs to happen')
t=t[:i]+t[j:]; t=t.replace('#include "model/demand.h"\n','#include "model/demand.h"\n#include "model/reason.h"\n').replace('#include <array>\n','')
wr('src/model/plan.h',t)
t=rd('src/model/plan.cpp')
i=t.index('std::string_view reason_name'); j=t.index('std::string_view wake_name')
t=t[:i]+t[j:]; t=t.replace('// Names of reasons, wake-ups and verdicts','// Names of wake-ups and verdicts')
wr('src/model/plan.cpp',t)
# text
shutil.copy(O+'reason_text.h','src/text/reason_text.h'); shutil.copy(O+'reason_text.cpp','src/text/reason_text.cpp')
shutil.copy(O+'amount_text.h','src/text/amount_text.h'); shutil.copy(O+'amount_text.cpp','src/text/amount_text.cpp')
wr('src/text/CMakeLists.txt','# Values as people read and write them: durations, quantities, reasons, names with "did you mean". A leaf.\nashlar_library(text DEPENDS model base)\n')
t=rd('src/text/duration_text.h')
t=t.replace('#include <string_view>\n','#include <string>\n#include <string_view>\n')
t=t.replace('Result<Millis> parse_duration(std::string_view text);\n','Result<Millis> parse_duration(std::string_view text);\n\n/// "1h12m", "3.2s": as much as a reader needs.\nstd::string duration_text(Millis duration);\n')
wr('src/text/duration_text.h',t)
p=rd('src/live/read/pod_text.cpp')
i=p.index('std::string duration_text(Millis duration) {'); j=p.index('\nnamespace {\n\nstd::string node_count(')
dur=p[i:j]
t=rd('src/text/duration_text.cpp')
k=t.rindex('}  // namespace ashlar')
t=t[:k]+dur.rstrip()+'\n\n'+t[k:]
if '<cstdio>' not in t: t=t.replace('#include <string>\n','#include <cstdio>\n#include <string>\n')
wr('src/text/duration_text.cpp',t)
# pod_text
i=p.index('/// Reasons for which more or other nodes would help'); j=p.index('/// Live nodes by the first taint')
p=p[:i]+p[j:]
i=p.index('constexpr std::string_view kWouldDelay'); j=p.index('std::string availability(')
p=p[:i]+rd(O+'names.cpp.part')+p[j:]
i=p.index('std::string quota_dimension_text('); j=p.index('bool waits_for_company_to_leave(const TextContext')
p=p[:i]+rd(O+'reason.cpp.part')+p[j:]
p=p.replace('if (first != ReasonCode::kNone && !is_about_nodes(first)) {','if (first != ReasonCode::kNone && !row_of(first).is_about_nodes) {')
p=p.replace('''    text.message = std::string(reason_name(first)) + ": " + prefix +
                   (first == ReasonCode::kReservationHeld ? std::string(kWouldDelay) : reason_text(c, verdict.reasons.front()));''',
'''    text.message = std::string(reason_name(first)) + ": " + prefix + ashlar::reason_text(verdict.reasons.front(), NamesOf(c, false));''')
p=p.replace('#include "state/cluster/cluster.h"\n','#include "state/cluster/cluster.h"\n#include "text/amount_text.h"\n#include "text/duration_text.h"\n#include "text/reason_text.h"\n')
wr('src/live/read/pod_text.cpp',p)
t=rd('src/live/read/pod_text.h')
i=t.index('std::string quota_dimension_text('); j=t.index('\n}  // namespace ashlar::kube')
t=t[:i]+t[j:]
wr('src/live/read/pod_text.h',t)
for f in ['src/live/read/read_api.cpp','src/apps/ashlar/shared/ask.cpp']:
    t=rd(f); t=t.replace('quota_dimension_text(','quota_text(').replace('kube::duration_text(','duration_text(')
    inc='#include "text/amount_text.h"\n' if 'read_api' in f else '#include "text/duration_text.h"\n'
    m=list(re.finditer(r'^#include "[^"]+"\n',t,re.M))[-1]; t=t[:m.end()]+inc+t[m.end():]
    wr(f,t)
# store
t=rd('src/store/words.cpp')
i=t.index("/// What a reason is about, if its code has a subject."); j=t.index('std::string reason_in_words(')
t=t[:i]+'''/// What a reason is about, if it has a name here.
std::string subject_in_words(const Reason& reason, const NameTable& names) {
  const ReasonSubject subject = row_of(reason.code).subject;
  if (subject == ReasonSubject::kResource) return " " + names.of({NameKind::kResource, reason.subject});
  if (subject == ReasonSubject::kLevel) return " " + names.of({NameKind::kLevel, reason.subject});
  if (subject == ReasonSubject::kQueue) return " " + names.of({NameKind::kQueue, reason.subject});
  return {};
}

'''+t[j:]
wr('src/store/words.cpp',t)
# cases
t=rd('src/sim/case/render.cpp')
i=t.index('std::string reason_text(const CaseFile& file'); j=t.index('std::string_view verdict_words(')
t=t[:i]+rd(O+'render.cpp.part')+t[j:]
wr('src/sim/case/render.cpp',t)
# tidy: codes are in the table
t=rd('tests/tidy/tidy.py')
a=t.index('def check_codes(tree):'); b=t.index('def check_float_flags')
t=t[:a]+'''def check_codes(tree):
    """Every code that a user reads has a row: what the functions called *reason_name return, and the table of reasons."""
    docs = tree.root / "docs/reference/reasons.md"
    rows = docs.read_text(encoding="utf-8") if docs.exists() else ""
    for name, text in tree.raw.items():
        blocks = list(re.finditer(r"^std::string_view \\w*reason_name\\(.*?^}", text, re.M | re.S))
        codes = [(code, block.start()) for block in blocks for code in re.findall(r'return "(\\w+)"', block[0])]
        codes += [(match[1], match.start()) for match in re.finditer(r'\\.code = ReasonCode::k\\w+,\\s*\\.name = "(\\w+)"', text)]
        for code, at in dict(codes).items():
            if f"\\n| `{code}` |" not in rows:
                yield name, text.count("\\n", 0, at) + 1, f"no row of docs/reference/reasons.md explains {code}"


'''+t[b:]
t=t.replace('    "text": ("base",),','    "text": ("base", "model"),')
wr('tests/tidy/tidy.py',t)
t=rd('tests/tidy/house.py')
t=t.replace('CHECKS = (\n',rd('docs/decisions/0010/reason_check.py')+'CHECKS = (\n').replace('    ("dependencies", check_dependencies),\n','    ("dependencies", check_dependencies),\n    ("reasons stand once", check_reason_switches),\n')
wr('tests/tidy/house.py',t)
