import json,re,sys,fnmatch
import words
p='bench/mutants/known.json'
raw=open(p).read(); known=json.loads(raw)
out=[];bad=0
for e in known:
    f=e['file']; src=open(''+f).read().split('\n')
    n=dict(e)
    for k in('from','to'):
        t=e[k]
        for name,title,paths,ident,rx,crx,brx in words.STEPS:
            if not any(fnmatch.fnmatch(f,q) for q in paths): continue
            segs=[]
            for kind,s in words.segments(t):
                if kind=='code':
                    if ident: s=words.IDENT.sub(lambda m:ident(m.group(0)),s)
                    for a,b in rx: s=re.sub(a,b,s,flags=re.M)
                segs.append(s)
            t=''.join(segs)
        n[k]=t
    c=sum(n['from'] in l for l in src)
    if c!=1: bad+=1; print(c,f,'|',e['from'],'|',n['from'])
    out.append(n)
text='[\n'+',\n'.join('  '+json.dumps(o,ensure_ascii=False) for o in out)+'\n]\n'
if len(sys.argv)>1: open(p,'w').write(text)
print(bad,'bad of',len(known))
