"""The commonest phrasings of suspicious notes in other languages, under the same signs as in `suspicion_words`.

German, French, Spanish, Italian, Portuguese, Russian, Arabic and Hindi are read word by word like English; `UNSPACED`
holds Chinese and Japanese, which are read by the longest match at each character. A word that ends in `*` stands for
all that begin so. What means something else in English is left out.
"""

from __future__ import annotations

from typing import Final

SPACED: Final[dict[str, str]] = {
    "V": """
        ignorier* missachte* vergiss vergesst vergessen_sie beachte_nicht_mehr befolge_nicht
        halte_dich_nicht_an ignorez oublie oubliez ne_tiens_pas_compte_de ne_tenez_pas_compte_de
        ne_respecte_plus ne_suis_pas ne_suis_plus fais_abstraction_de ignora ignorad ignoren olvida olvide
        olvidad no_hagas_caso_de no_sigas haz_caso_omiso_de descarta ignora_tutte dimentica dimenticate
        non_seguire ignorem esqueca esquece desconsidere desconsidera nao_siga игнорир* проигнорир* забудь
        забудьте не_обращай_внимания_на не_следуй не_слушай не_соблюдай отбрось تجاهل تجاهلوا تجاهلي انس
        انسي لا_تتبع لا_تلتزم اهمل अनदेखा नजरअंदाज नज़रअंदाज़ उपेक्षा भूल भूलकर पालन_मत""",
    "o": """
        ungultig aufgehoben hinfallig annule annulees annules anuladas anulados отменен* недействительн*
        ملغاة रद्द""",
    "P": """
        vorherig* bisherig* vorig* obig* fruher* vorangegangen* zuvor davor precedent* ci_dessus d_avant
        avant anterieur* anterior* previa* previo* previos precedenti precedente antes предыдущ* прежн*
        ранее прошл* выше вышеуказанн* السابقة السابق السابقه اعلاه قبل पिछले पिछली पिछला पहले पूर्व उपरोक्त
        ऊपर""",
    "A": """
        alle aller allen samtliche jede jeden jedes jeder jegliche toutes tous tout toute chaque todas todos
        toda cada cualquier tutte tutti ogni qualsiasi все всех всем всё каждый любой любые всю весь جميع كل
        كافة सभी सारे सब हर प्रत्येक""",
    "Y": """
        dein deine deinen deiner deinem deines ihre ihren ihrer tes ta ton votre vos tus tu_propio sus tuas
        seus tuoi tue твой твои твоих свой свои своих ваши ваших свою твоего своего твою تعليماتك
        تعليماتك_السابقة قواعدك अपने अपनी अपना तुम्हारे तुम्हारी आपके आपकी""",
    "u": "du tu vous te eres usted ты тебе вы вам انت عليك तुम तू आप तुम्हें आपको tienes debes_tu dich",
    "i": "mir mich moi yo mi mne мне меня я لي مुझे मुझे मेरी मेरा",
    "d": """
        der die das den dem des von vom la le les l el los las lo de del della delle dei degli gli il i_tuoi
        as os do dos da que du_systeme и на для من के की का को से ने""",
    "&": "und oder et ou y e и या और و",
    "a": "ein eine einen einem einer un une una uno um uma एक",
    "S": "systeme sistema системн* система النظام सिस्टम",
    "I": """
        anweisung* instruktion* vorgaben vorgabe anordnung* instructions_donnees consignes consigne
        directive_s instruccion* ordenes directrices istruzioni istruzione direttive instrucoes instrucao
        diretrizes инструкц* указани* предписани* распоряжени* التعليمات تعليمات الاوامر اوامر التوجيهات
        निर्देशों निर्देश आदेशों आदेश हिदायतों अनुदेशों""",
    "r": """
        regel regeln richtlinie* befehl* einschrankung* regle regles reglas regla normas norma regole regola
        regras regra правил* ограничени* команд* القواعد قواعد القاعدة قاعدة القيود नियम नियमों पाबंदियों
        indicaciones contraintes restricciones restrizioni restricoes""",
    "E": "alles tout_ce todo_lo tutto_cio tudo всё_что все_что كل_ما सब_कुछ",
    "T": "gesagt gegeben dit donne dieron dicho dado сказан* говорил* قيل قيلت दिए_गए कहा बताया",
    "π": """
        systemprompt system_anweisung* systemanweisung* systemnachricht prompt_systeme prompt_du_systeme
        invite_systeme instructions_systeme prompt_del_sistema prompt_de_sistema instrucciones_del_sistema
        prompt_di_sistema prompt_do_sistema системный_промпт системный_промт системного_промпта
        системную_инструкцию موجه_النظام تعليمات_النظام सिस्टम_प्रॉम्प्ट सिस्टम_निर्देश""",
    # -- another role ------------------------------------------------------------------------------------------
    "w": """
        du_bist_jetzt du_bist_nun du_bist_ab_sofort sie_sind_jetzt ab_jetzt_bist_du von_nun_an_bist_du
        ab_sofort_bist_du du_bist_ab_jetzt du_bist_kein du_bist_nicht_mehr tu_es_maintenant tu_es_desormais
        vous_etes_maintenant vous_etes_desormais ahora_eres a_partir_de_ahora_eres eres_ahora ya_no_eres
        desde_ahora_eres ora_sei adesso_sei agora_voce_e voce_agora_e теперь_ты ты_теперь отныне_ты
        ты_больше_не انت_الان انت_من_الان_فصاعدا अब_तुम अब_आप अब_से_तुम अब_से_आप तुम_अब""",
    "q": """
        tu_so_als tue_so_als als_warst_du als_ob_du als_warest_du stell_dir_vor_du spiel_die_rolle
        spiele_die_rolle schlupf_in_die_rolle ubernimm_die_rolle verhalte_dich_wie benimm_dich_wie
        gib_dich_als antworte_als_ware fais_semblant faites_semblant imagine_que_tu joue_le_role
        jouez_le_role comporte_toi_comme agis_comme_si agis_en_tant_que agissez_comme actua_como actue_como
        compórtate_como comportate_como finge_ser finge_que haz_de haz_el_papel_de imagina_que_eres
        hazte_pasar_por simula_ser fai_finta agisci_come comportati_come finja_ser aja_como притворись
        притворяйся сделай_вид_что_ты веди_себя_как представь_что_ты сыграй_роль играй_роль вообрази_что_ты
        действуй_как تظاهر تصرف_كانك تصرف_كما_لو تخيل_انك العب_دور مثل_دور मान_लो_कि_तुम मान_लो_कि_आप
        कल्पना_करो_कि_तुम दिखावा_करो नाटक_करो की_तरह_व्यवहार की_भूमिका_निभाओ का_रोल_निभाओ की_भूमिका_में""",
    "J": """
        ohne_regeln ohne_einschrankungen ohne_beschrankungen ohne_filter ohne_jede_einschrankung
        uneingeschrankt* sans_aucune_restriction sans_restriction sans_restrictions sans_regles sans_filtre
        sans_limites sin_restricciones sin_reglas sin_limites sin_filtros sin_ninguna_restriccion
        senza_restrizioni senza_regole sem_restricoes sem_regras без_ограничений без_правил без_фильтров
        без_цензуры बिना_नियमों बिना_किसी_नियम बिना_पाबंदी بلا_قيود بدون_قيود بلا_قواعد دون_قيود""",
    "j": """
        pirat piraten hackerin pirate_informatique malvado хакер* пират* робот* هكر مخترق قرصان हैकर डाकू
        personaje personnage assistente asistente assistent assistentin ki""",
    # -- taking out ------------------------------------------------------------------------------------------
    "X": """
        sende senden schicke schick ubermittle leite_weiter ubertrage lade_hoch envoie envoyez envoyer
        transmets transmettez transmettre publie envia envie enviad manda reenvia sube publica comparte
        invia mandare envie_os отправь отправляй отправьте перешли пошли вышли опубликуй загрузи ارسل ابعث
        انشر حول شارك भेजो भेजें भेज अपलोड साझा""",
    "R": """
        zeige zeig verrate nenne gib_aus wiederhole montre montrez revele affiche repete donne_moi muestra
        muestrame revela repite imprime dime mostra rivela mostre покажи раскрой выведи повтори сообщи
        назови اظهر اكشف اعرض كرر اطبع दिखाओ बताओ दोहराओ प्रकट""",
    "K": """
        passworter passwoerter kennworter zugangsdaten gesprachsverlauf chatverlauf geheimnisse
        mots_de_passe donnees_de_l_utilisateur historique_de_la_conversation cles_api contrasenas claves_api
        claves_de_api historial_de_la_conversacion conversacion datos_del_usuario senhas parole_d_ordine
        парол* секрет* переписк* ключи_api кluchi كلمات المرور المحادثة بيانات_المستخدم الاسرار مفاتيح
        पासवर्ड बातचीत कुंजियां गोपनीय les_donnees données_privees donnees_privees nutzerdaten api_schlussel
        konversation credenciales identifiants password_dell_utente""",
    "H": """
        heimlich unbemerkt ohne_dem_nutzer secretement discretement sans_le_dire en_secret en_secreto
        sin_avisar sin_decir a_escondidas тайно незаметно втайне سرا دون_اخبار चुपके चुपचाप गुप्त_रूप""",
    # -- rules that stay ----------------------------------------------------------------------------------------
    "θ": """
        diese diesen dieses folgende folgenden folgendes cette ce cet ces suivante suivantes suivant esta
        este estas estos siguiente siguientes questa questo seguente esta_regra это эту эти этому следующ*
        هذه هذا التالية यह इस ये इन निम्नलिखित""",
    "M": """
        merke_dir merk_dir merke_sie_sich einpragen prag_dir prage_dir souviens_toi souvenez_vous
        memorise_la rappelle_toi retiens n_oublie_jamais memoriza recuerda recuerde no_olvides_nunca ricorda
        ricordati lembre_se lembre memorize_esta запомни запомните помни заучи تذكر احفظ لا_تنس याद_रखो
        याद_रखना याद_रखें याद_कर vergiss_nie""",
    "k": """
        speichere speicher enregistre enregistrez sauvegarde guarda guarde almacena salva сохрани запиши خزن
        سجل सहेजो सेव""",
    "B": """
        deinem_gedachtnis dein_gedachtnis deinem_speicher gedachtnis ta_memoire votre_memoire tu_memoria
        su_memoria memoria_permanente memoire_permanente памят* ذاكرتك मेमोरी_में अपनी_मेमोरी""",
    "z": "immer stets toujours siempre sempre всегда دائما हमेशा सदा",
    "Z": """
        von_nun_an ab_jetzt ab_sofort ab_heute kunftig in_zukunft a_partir_de_maintenant desormais
        dorenavant des_maintenant a_partir_de_ahora desde_ahora de_ahora_en_adelante en_adelante
        d_ora_in_poi a_partir_de_agora с_этого_момента отныне впредь с_сегодняшнего_дня من_الان_فصاعدا
        من_الان منذ_الان अब_से आज_से आगे_से""",
    "ζ": """
        dauerhaft fur_immer auf_ewig pour_toujours para_siempre per_sempre para_sempre навсегда навечно
        للابد الى_الابد हमेशा_के_लिए""",
    "m": """
        muss musst mussen sollst wirst dois doit doivent devez debe debes deben tienes_que deve devi devono
        должен должна должны обязан обязана надо нужно يجب عليك_ان चाहिए होगा होगी होंगी पड़ेगा पड़ेगी""",
    "G": """
        gehorche gehorchen befolge befolgen obeis obeissez obeir obedece obedeced obedecer obbedisci obedeca
        слушайся повинуйся подчиняйся слушай выполняй подчинись اطع اطيعوا امتثل बात_मानो बात_मानना पालन_करो
        आज्ञा_मानो""",
    "Λ": """
        genehmige genehmigen akzeptiere bestatige approuve approuver accepte accepter aprueba aprobar acepta
        aceptar approva approvare aprovar одобряй одобрять принимай принимать разрешай согласен соглашайся
        соглашаться وافق الموافقة توافق स्वीकार मंजूर मंज़ूर""",
    # -- orders from elsewhere -----------------------------------------------------------------------------------
    "F": """
        webseite webseiten webseitentext internetseite werkzeugausgabe tool_ausgabe suchergebnis*
        e_mail_text page_web site_web resultat_de_l_outil sortie_de_l_outil l_outil outil pagina_web
        sitio_web resultado_de_la herramienta resultado_de_busqueda sito_web веб_страниц* веб_страница
        страниц* сайт* инструмент* вебстраниц* صفحة_الويب الصفحة الموقع موقع_الويب الاداة البريد वेब_पेज
        वेबपेज वेबसाइट टूल ईमेल""",
    "f": "datei dokument fichier documento archivo файл* документ* الملف المستند फाइल दस्तावेज",
    "c": """
        sagt besagt schreibt steht verlangt dit_que dit indique demande dice pide indica говорит сообщает
        пишет просит требует гласит гласит_что تقول يقول تطلب يطلب تذكر_ان कहता कहती बताता लिखा""",
    "C": "weist fordert befiehlt ordonne exige ordena приказывает велит предписывает تامر يامر आदेश_देता",
    "Þ": "laut gemass selon conformement_a segun secondo согласно وفقا حسب के_अनुसार अनुसार",
    "L": """
        assistenten lassistant lia_doit el_asistente asistente_debe l_ia la_ia ассистент* помощник* ии
        нейросет* المساعد مساعد सहायक एआई असिस्टेंट""",
    "D": """
        losche loschen lösche deaktiviere uberweise fuhre_aus supprime supprimer efface execute_la borra
        borrar elimina eliminar ejecuta ejecutar удали удалить удаляй выполни выполнить отключи احذف حذف نفذ
        تنفيذ हटाओ हटाने हटानी हटा डिलीट चलाओ_यह""",
}

UNSPACED: Final[dict[str, str]] = {
    "V": """
        忽略 忽視 忽视 无视 無視 忘记 忘記 忘掉 不要理会 不要理會 不要遵守 不用遵守 不必遵守 不再遵守 抛开
        抛弃 不用管 不要管 别管 無視して 無視しろ 無視せよ 忘れて 忘れろ 従わないで 従うな 破棄して""",
    "o": "作废 失效 无效 無効 取消",
    "P": """
        之前 以前 先前 前面 上面 以上 上述 此前 前述 早先 原来 原先 原有 最初 これまで 今まで 先ほど 前の
        上記 従来""",
    "A": "所有 全部 一切 任何 每个 每一 すべて 全て あらゆる いかなる",
    "Y": "你的 您的 あなたの 君の 自分の",
    "u": "你 您 あなた 君 お前",
    "i": "我 私 俺",
    "d": "的 了 の を は が に と 们 和 及 与 地",
    "S": "系统 系統 システム 安全",
    "I": "指令 指示 说明 指引 准则 準則 命令 指導",
    "r": "规则 規則 规定 提示词 提示 约束 约定 限制 要求 设定 ルール プロンプト 規定 制約 制限",
    "T": "告诉 说过 言われた 教えられた",
    "π": """
        系统提示词 系统提示 系统指令 系統提示 初始指令 隐藏指令 システムプロンプト システムメッセージ
        システム指示 初期指示""",
    "w": """
        你现在是 您现在是 现在你是 从现在开始你是 从现在起你是 你不再是 今后你是 你將是 你将是
        あなたは今から あなたは今 今からあなたは これからあなたは あなたはもう""",
    "q": """
        扮演 假装 假裝 假设你是 假如你是 想象你是 装作 充当 角色扮演 请你当 のふりをして のふりをしろ
        になりきって になりきり を演じて ロールプレイ 役を演じ 役になって だと想像して のように振る舞""",
    "J": """
        没有限制 没有任何限制 不受限制 不受任何限制 无限制 没有规则 制限のない 無制限 制限なし ルールのない
        规则之外 越狱 脱獄""",
    "j": "黑客 海盗 人工智能 助手 机器人 ハッカー 海賊 ロボット AI",
    "a": "一个 一個 一名",
    "X": """
        发送 發送 发给 发到 上传 上傳 转发 寄给 传给 传到 泄露 公开 分享 送信 送って 送れ 送付 アップロード
        転送 投稿 公開""",
    "R": "输出 显示 展示 透露 告诉我 打印 重复 复述 列出 泄漏 表示 見せて 教えて 出力 明かして 繰り返して",
    "K": """
        密码 密碼 密钥 秘钥 令牌 凭证 凭据 聊天记录 对话记录 对话内容 对话 环境变量 私钥 隐私 个人信息 机密
        パスワード 秘密鍵 会話履歴 会話 環境変数 APIキー 個人情報 機密 认证信息 認証情報 历史记录""",
    "O": "攻击者 外部服务器 我的服务器 外部サーバー",
    "H": "偷偷 悄悄 秘密地 暗中 不要告诉用户 别告诉用户 こっそり 密かに ユーザーに知らせず ユーザーに言わず 内緒で",
    "θ": "这条 这个 以下 下面 此 这些 該 この 次の 以下の これ",
    "M": "记住 記住 牢记 铭记 记下来 不要忘记 永远记住 覚えて 覚えておいて 記憶して 忘れないで 忘れるな",
    "k": "保存 存储 存入 写入 记录 储存 記録 書き込",
    "B": "记忆 长期记忆 你的记忆 記憶に メモリに 長期記憶",
    "z": "始终 总是 一直 永远 一律 必ず 常に いつも",
    "Z": "从现在起 从现在开始 从今以后 今后 以后 从此 从此以后 今後 今後は これから 今から 以降",
    "ζ": "永久 永远有效 永遠に 永久に ずっと",
    "m": """
        必须 必須 应该 应当 务必 要求你 なければならない なければなりません しなさい せよ べき 必要がある
        ねばならない""",
    "G": "服从 听从 遵从 听话 遵照 従って 従うこと 従え 従いなさい 服従",
    "Λ": "同意 批准 接受 允许 承認 許可 受け入れ",
    "F": """
        网页 网站 工具输出 工具结果 工具返回 搜索结果 邮件 电子邮件 网页内容 附件 ウェブページ ウェブサイト
        ツール出力 ツールの出力 ツールの結果 検索結果 メール 添付ファイル""",
    "f": "文件 文档 ファイル 文書 ドキュメント",
    "c": "上说 写道 说 显示说 要求 表示 称 书いて によると によれば 書いてある 書かれて",
    "Þ": "根据 按照 依照",
    "L": "助手 助理 アシスタント 人工智能助手 AI助手",
    "D": "删除 刪除 执行 執行 転賬 转账 削除 実行 关闭 停用 無効化",
}
